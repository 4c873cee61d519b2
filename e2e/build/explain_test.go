package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestFailuresSayWhatWouldBeRight(t *testing.T) {
	for name, test := range map[string]struct{ stderr, want, also string }{
		"name resolution": {
			`go: k8s.io/api@v0.36.3: Get "https://proxy.example.com/k8s.io/api/@v/v0.36.3.mod": dial tcp: lookup proxy.example.com: no such host`,
			"needs the Go module proxy (GOPROXY=https://my.proxy)", "nothing was changed",
		},
		"proxy off": {
			`go: k8s.io/api@v0.36.3: module lookup disabled by GOPROXY=off`,
			"needs the Go module proxy", "k8s.io/api@v0.36.3",
		},
		"toolchain": {
			`go: download go1.26.11 for linux/amd64: toolchain not available`,
			"needs the Go module proxy", "go1.26.11",
		},
		"gateway": {
			`go: x@v1: reading https://proxy.example.com/x/@v/v1.info: 502 Bad Gateway`,
			"needs the Go module proxy", "502",
		},
		"full disk": {
			`link: write /nowhere/at/all/go-build/a.out: no space left on device`,
			"the disk of / is full", "MB free",
		},
		"full disk, no file": {
			`/go/pkg/tool/linux_amd64/link: mapping output file failed: no space left on device`,
			"is full", "about 1 GB needed",
		},
		"quota": {
			`mkdir /tmp/x: disk quota exceeded`,
			"the disk of /tmp is full", "about 1 GB needed",
		},
		"something else": {
			`main.go:1: syntax error`,
			"building etcd v3", "main.go:1: syntax error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("GOPROXY", "https://my.proxy")
			message := filepath.Join(t.TempDir(), "message")
			g.Expect(os.WriteFile(message, []byte(test.stderr), 0o600)).To(Succeed())
			fakeGo(t, `[ "$1" = env ] && echo "$GOPROXY" && exit; cat `+message+` >&2; exit 1`)
			c := &Cache{Dir: t.TempDir()}
			_, err := c.Pinned(t.Context(), "etcd")
			g.Expect(err).To(MatchError(And(ContainSubstring(test.want), ContainSubstring(test.also))))
			g.Expect(entries(t, c)).To(BeEmpty())
		})
	}
}

// If go.mod requires a release that can't be downloaded, even go env fails.
func TestSettingsAreKnownWithoutTheToolchain(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("GOPROXY", "https://my.proxy")
	t.Setenv("GOTOOLCHAIN", "go1.999.0")
	g.Expect(setting(t.Context(), "GOPROXY")).To(Equal("https://my.proxy"))
}

func TestExplainIsAboutFullDisks(t *testing.T) {
	g := NewWithT(t)
	c := &Cache{Dir: t.TempDir()}
	full := fmt.Errorf("write %s/layer.tar: %w", c.Dir, syscall.ENOSPC)
	err := c.Explain(t.Context(), "image", "200 MB", full)
	g.Expect(err).To(MatchError(ContainSubstring("the disk of %s is full", c.Dir)))
	g.Expect(err).To(MatchError(ContainSubstring("about 200 MB needed")))
	g.Expect(err).To(MatchError(syscall.ENOSPC))
	other := errors.New("it rained")
	g.Expect(c.Explain(t.Context(), "image", "200 MB", other)).To(BeIdenticalTo(other))
	g.Expect(c.Explain(t.Context(), "image", "200 MB", nil)).To(Succeed())
}

func TestNoGoCommand(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("PATH", t.TempDir())
	c := &Cache{Dir: t.TempDir()}
	_, err := c.Pinned(t.Context(), "etcd")
	g.Expect(err).To(MatchError(And(
		ContainSubstring("there is no go command on the PATH"), ContainSubstring("https://go.dev/dl"))))
	g.Expect(entries(t, c)).To(BeEmpty())
}

func TestTheUsersGoSettingsDoNotReachABuild(t *testing.T) {
	g := NewWithT(t)
	env := command{dir: "/d", tmp: "/t", goos: "linux", goarch: "arm64"}.environ([]string{
		"GOFLAGS=-mod=vendor", "GOWORK=/home/me/go.work", "GO111MODULE=off", "CGO_ENABLED=1", "GOTOOLCHAIN=local",
		"GOEXPERIMENT=x", "GOOS=plan9", "GOROOT=/old", "GOPROXY=https://my.proxy", "GOPRIVATE=mine", "HOME=/home/me",
	})
	g.Expect(env).To(ConsistOf(
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0", "GOTOOLCHAIN="+Toolchain+"+auto",
		"GOOS=linux", "GOARCH=arm64", "GOTMPDIR=/t", "PWD=/d",
		"GOPROXY=https://my.proxy", "GOPRIVATE=mine", "HOME=/home/me",
	))
}
