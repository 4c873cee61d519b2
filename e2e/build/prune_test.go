package build

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

// folders writes and builds modules in folders.
type folders struct {
	*WithT
	t     *testing.T
	cache *Cache
	dir   string
}

func newFolders(t *testing.T) *folders {
	t.Helper()
	t.Setenv("SOURCE", t.TempDir())
	fakeGo(t, modules)
	return &folders{WithT: NewWithT(t), t: t, cache: &Cache{Dir: t.TempDir()}, dir: t.TempDir()}
}

// build writes and builds a folder, makes an image of it, and returns the entry.
func (f *folders) build(name, content string) string {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	f.Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	for file, text := range map[string]string{"go.mod": "module example.com/acme\n", "main.go": "package main // " +
		content + "\n"} {
		f.Expect(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600)).To(Succeed())
	}
	binary, err := f.cache.MainOf(f.t.Context(), dir, ".", "linux", "arm64")
	f.Expect(err).NotTo(HaveOccurred())
	entry := filepath.Dir(binary)
	f.Expect(os.MkdirAll(f.cache.ImageOf(entry), 0o700)).To(Succeed())
	return entry
}

// unused sets the entry's last use to that long ago.
func (f *folders) unused(entry string, ago time.Duration) {
	then := time.Now().Add(-ago)
	f.Expect(os.Chtimes(filepath.Join(entry, originFile), then, then)).To(Succeed())
}

func TestAFoldersOlderBuildsGo(t *testing.T) {
	f := newFolders(t)
	first, second, other := f.build("mine", "1"), f.build("mine", "2"), f.build("other", "3")
	f.unused(first, 25*time.Hour)
	f.unused(second, 23*time.Hour)
	f.unused(other, 29*24*time.Hour)
	third := f.build("mine", "4")
	f.Expect(entries(t, f.cache)).To(ConsistOf(filepath.Base(second), filepath.Base(third), filepath.Base(other)))
	f.Expect(f.cache.ImageOf(first)).NotTo(BeADirectory())
	f.Expect(first + ".lock").NotTo(BeAnExistingFile())
	for _, kept := range []string{second, third, other} {
		f.Expect(f.cache.ImageOf(kept)).To(BeADirectory())
	}
	f.Expect(f.build("mine", "1")).To(Equal(first), "what was removed is built again")
}

func TestWhatIsUsedAgainStays(t *testing.T) {
	f := newFolders(t)
	first, second := f.build("mine", "1"), f.build("mine", "2")
	f.unused(first, 25*time.Hour)
	f.unused(second, 25*time.Hour)
	f.Expect(f.build("mine", "1")).To(Equal(first))
	f.Expect(entries(t, f.cache)).To(ConsistOf(filepath.Base(first)), "and the one in its place goes")
}

func TestBuildsThatNobodyUsesGo(t *testing.T) {
	f := newFolders(t)
	gone := f.build("gone", "1")
	f.unused(gone, 31*24*time.Hour)
	release, err := f.cache.Main(t.Context(), "example.com/karpenter", "v1.15.0", "./kwok", "linux", "arm64")
	f.Expect(err).NotTo(HaveOccurred())
	release = filepath.Dir(release)
	old := time.Now().Add(-365 * 24 * time.Hour)
	f.Expect(os.Chtimes(release, old, old)).To(Succeed())
	mine := f.build("mine", "1")
	f.Expect(entries(t, f.cache)).To(ConsistOf(filepath.Base(mine), filepath.Base(release)), "releases stay")
}

func TestABuildThatAnotherRunLooksAtStays(t *testing.T) {
	f := newFolders(t)
	first := f.build("mine", "1")
	f.unused(first, 25*time.Hour)
	lock, err := filelock.Try(first + ".lock")
	f.Expect(err).NotTo(HaveOccurred())
	second := f.build("mine", "2")
	lock.Release()
	f.Expect(entries(t, f.cache)).To(ConsistOf(filepath.Base(first), filepath.Base(second)))
}
