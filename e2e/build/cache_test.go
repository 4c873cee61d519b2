package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// fakeGo puts a go command on the PATH that runs the script. It returns a file that gets a
// line for each call.
func fakeGo(t *testing.T, script string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	script = "#!/bin/sh\necho \"$*\" >> " + calls + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return calls
}

// buildsEtcd is the script of a go command that succeeds.
const buildsEtcd = `while [ "$1" != -o ]; do shift; done; echo program > "$2/server"`

func count(t *testing.T, calls, word string) int {
	t.Helper()
	content, err := os.ReadFile(calls)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, word) {
			n++
		}
	}
	return n
}

// entries returns the files of the cache other than locks.
func entries(t *testing.T, c *Cache) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(c.Dir, "build", "*"))
	if err != nil {
		t.Fatal(err)
	}
	left := []string{}
	for _, e := range all {
		if !strings.HasSuffix(e, ".lock") {
			left = append(left, filepath.Base(e))
		}
	}
	return left
}

func TestAPinIsBuiltOnce(t *testing.T) {
	g := NewWithT(t)
	calls := fakeGo(t, buildsEtcd)
	var said []string
	c := &Cache{Dir: t.TempDir(), Progress: func(line string) { said = append(said, line) }}
	dir, err := c.Pinned(t.Context(), "etcd")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Join(dir, "etcd")).To(BeARegularFile())
	g.Expect(filepath.Join(dir, "tmp")).NotTo(BeADirectory())
	g.Expect(said).To(HaveExactElements(
		MatchRegexp(`^building etcd v3\.\d+\.\d+ from source \(first time only, about 20 s\)$`),
		MatchRegexp(`^built etcd v3\.\d+\.\d+ in 0s$`),
	))

	g.Expect(c.Pinned(t.Context(), "etcd")).To(Equal(dir))
	g.Expect(count(t, calls, "build")).To(Equal(1))
	g.Expect(said).To(HaveLen(2), "nothing to say about what is there")
}

func TestAnEntryThatLostAFileIsBuiltAgain(t *testing.T) {
	g := NewWithT(t)
	calls := fakeGo(t, buildsEtcd)
	c := &Cache{Dir: t.TempDir()}
	dir, err := c.Pinned(t.Context(), "etcd")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Truncate(filepath.Join(dir, "etcd"), 0)).To(Succeed())
	g.Expect(c.Pinned(t.Context(), "etcd")).To(Equal(dir))
	g.Expect(count(t, calls, "build")).To(Equal(2))
}

func TestTwoRunsDoNotBuildTheSame(t *testing.T) {
	g := NewWithT(t)
	calls := fakeGo(t, "sleep 0.5\n"+buildsEtcd)
	dir := t.TempDir()
	var mu sync.Mutex
	var said []string
	var work sync.WaitGroup
	for range 2 { // like two processes, they share only the folder
		work.Go(func() {
			c := &Cache{Dir: dir, Progress: func(line string) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, line)
			}}
			if _, err := c.Pinned(t.Context(), "etcd"); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	g.Expect(count(t, calls, "build")).To(Equal(1))
	g.Expect(said).To(ContainElement(MatchRegexp(`^waiting for another run that is building etcd v3`)))
}

func TestCancellingKillsTheBuildAndLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	alive := filepath.Join(t.TempDir(), "alive")
	// A compiler that outlives the go command would write this file.
	fakeGo(t,
		fmt.Sprintf(`(sleep 1; echo yes > %s) & while [ "$1" != -o ]; do shift; done; echo half > "$2/half"; wait`, alive))
	c := &Cache{Dir: t.TempDir()}
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(why) })

	start := time.Now()
	_, err := c.Pinned(ctx, "etcd")
	g.Expect(err).To(MatchError(why))
	g.Expect(err).To(MatchError(ContainSubstring("building etcd")))
	g.Expect(time.Since(start)).To(BeNumerically("<", 900*time.Millisecond))
	g.Expect(entries(t, c)).To(BeEmpty())
	g.Consistently(alive, "1s").ShouldNot(BeAnExistingFile())
}

func TestWhatAKilledRunLeftIsNotTakenForAnEntry(t *testing.T) {
	g := NewWithT(t)
	calls := fakeGo(t, buildsEtcd)
	c := &Cache{Dir: t.TempDir()}
	dir, err := c.Pinned(t.Context(), "etcd")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Rename(dir, dir+".partial")).To(Succeed())

	g.Expect(c.Pinned(t.Context(), "etcd")).To(Equal(dir))
	g.Expect(count(t, calls, "build")).To(Equal(2))
	g.Expect(entries(t, c)).To(HaveExactElements(filepath.Base(dir)))
}

func TestTheKeyCoversAllThatGoesIn(t *testing.T) {
	g := NewWithT(t)
	c := &Cache{Dir: t.TempDir()}
	seen := map[string]bool{}
	for _, key := range [][]string{{"a", "b"}, {"a", "c"}, {"ab"}, {"a", "b", ""}} {
		dir, err := c.ensure(t.Context(), task{
			name: "x", key: key, what: "x", makes: []string{"x"},
			create: func(_ context.Context, dir string) error {
				return os.WriteFile(filepath.Join(dir, "x"), []byte("x"), 0o600)
			},
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seen).NotTo(HaveKey(dir))
		seen[dir] = true
	}
}

func TestTheCacheIsWhereTheUserWantsIt(t *testing.T) {
	g := NewWithT(t)
	want := filepath.Join(t.TempDir(), "here")
	t.Setenv("PLUMBLINE_CACHE", want)
	c, err := Open(nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Dir).To(Equal(want))
	info, err := os.Stat(want)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o700)))

	t.Setenv("PLUMBLINE_CACHE", filepath.Join(want, "file", "below"))
	g.Expect(os.WriteFile(filepath.Join(want, "file"), nil, 0o600)).To(Succeed())
	_, err = Open(nil)
	g.Expect(err).To(MatchError(ContainSubstring("set PLUMBLINE_CACHE to a folder")))
}
