package build

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// modules is the script of a go command that knows one module.
const modules = `
case "$1 $2" in
"mod download")
	case "$4" in
	*@main) printf '{"Path":"example.com/karpenter","Version":"v1.15.1-0.20260819221709-6e7eab7a0f48","Dir":"%s"}' \
		"$SOURCE" ;;
	*@v2.0.0) printf '{"Error":"%s"}' 'example.com/karpenter@v2.0.0: invalid version: module contains a go.mod file, '\
'so module path must match major version (example.com/karpenter/v2)'; exit 1 ;;
	*@v1.15.0) printf '{"Path":"example.com/karpenter","Version":"v1.15.0","Dir":"%s"}' "$SOURCE" ;;
	*@v9.9.9) printf '{"Path":"example.com/karpenter","Error":"%s"}' \
		'example.com/karpenter@v9.9.9: invalid version: unknown revision v9.9.9'; exit 1 ;;
	*) printf '{"Error":"%s"}' \
		'example.com/nothing: module example.com/nothing: not found: reading https://proxy: 404 Not Found'; exit 1 ;;
	esac ;;
"list -m")
	case "$5" in
	example.com/karpenter) printf '{"Versions":["v1.0.8","v1.14.3","v1.15.0"]}' ;;
	*) echo "go: module example.com/nothing: 404 Not Found" >&2; exit 1 ;;
	esac ;;
"list -f")
	case "$4" in ./pkg) echo pkg ;; *) echo main ;; esac ;;
build*)
	while [ "$1" != -o ]; do shift; done; echo "$GOOS/$GOARCH $(pwd) $3" > "$2" ;;
esac`

func TestAModuleIsDownloaded(t *testing.T) {
	g := NewWithT(t)
	source := t.TempDir()
	t.Setenv("SOURCE", source)
	fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}
	for _, version := range []string{"v1.15.0", "1.15.0"} {
		g.Expect(c.Module(t.Context(), "example.com/karpenter", version)).To(Equal(source))
	}
}

func TestABranchStandsForAVersion(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("SOURCE", t.TempDir())
	calls := fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}
	g.Expect(c.Resolve(t.Context(), "example.com/karpenter", "1.15.0")).To(Equal("v1.15.0"))
	g.Expect(count(t, calls, "")).To(BeZero(), "a version stands for itself")
	g.Expect(c.Resolve(t.Context(), "example.com/karpenter", "main")).
		To(Equal("v1.15.1-0.20260819221709-6e7eab7a0f48"))
	g.Expect(count(t, calls, "")).To(Equal(1))
	_, err := c.Resolve(t.Context(), "example.com/karpenter", "1234567")
	g.Expect(err).To(MatchError(`example.com/karpenter has no branch or commit "1234567": there are v1.15.0 v1.14.3 v1.0.8`))
}

func TestATagThatDoesNotFitTheModulePath(t *testing.T) {
	g := NewWithT(t)
	fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}
	_, err := c.Module(t.Context(), "example.com/karpenter", "v2.0.0")
	g.Expect(err).To(And(MatchError(ErrModulePath),
		MatchError(HavePrefix("example.com/karpenter@v2.0.0 can't be downloaded as a Go module: its go.mod names a ")),
		MatchError(ContainSubstring("module path must match major version (example.com/karpenter/v2)"))))
}

func TestAnUnknownVersionIsAnsweredWithThoseThereAre(t *testing.T) {
	g := NewWithT(t)
	fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}
	_, err := c.Module(t.Context(), "example.com/karpenter", "9.9.9")
	g.Expect(err).To(MatchError(`example.com/karpenter has no version "v9.9.9": there are v1.15.0 v1.14.3 v1.0.8`))

	_, err = c.Module(t.Context(), "example.com/nothing", "v1.0.0")
	g.Expect(err).To(MatchError(ContainSubstring("module example.com/nothing does not exist")))
}

func TestAMainPackageIsBuiltWithinItsModule(t *testing.T) {
	g := NewWithT(t)
	source, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Setenv("SOURCE", source)
	calls := fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}

	binary, err := c.Main(t.Context(), "example.com/karpenter", "v1.15.0", "./kwok", "linux", "arm64")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Base(binary)).To(Equal("kwok"))
	g.Expect(os.ReadFile(binary)).To(BeEquivalentTo(fmt.Sprintf("linux/arm64 %s ./kwok\n", source)))

	// The same package under its other name, and for another system.
	g.Expect(c.Main(t.Context(), "example.com/karpenter", "1.15.0", "example.com/karpenter/kwok", "linux", "arm64")).
		To(Equal(binary))
	g.Expect(count(t, calls, "build")).To(Equal(1))
	g.Expect(c.Main(t.Context(), "example.com/karpenter", "v1.15.0", "kwok", "darwin", "arm64")).NotTo(Equal(binary))
	g.Expect(count(t, calls, "build")).To(Equal(2))
}

func TestTheModuleOfAFolderIsBuiltAsItIs(t *testing.T) {
	g := NewWithT(t)
	calls := fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}
	dir := t.TempDir()
	write := func(name, text string) {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	write("go.mod", "module example.com/acme\n")
	write("main.go", "package main\n")

	first, err := c.MainOf(t.Context(), dir, ".", "linux", "arm64")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Base(first)).To(Equal("acme"))
	g.Expect(c.MainOf(t.Context(), dir, ".", "linux", "arm64")).To(Equal(first))
	g.Expect(count(t, calls, "build")).To(Equal(1))

	write("main.go", "package main // changed\n")
	g.Expect(c.MainOf(t.Context(), dir, ".", "linux", "arm64")).NotTo(Equal(first))
	g.Expect(count(t, calls, "build")).To(Equal(2))
}

// With the real go command: what counts is what it says.
func TestTheFoldersThatReplaceModulesCount(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write := func(name, text string) {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	write("sim/go.mod", "module example.com/sim\n\ngo 1.24\n\nrequire example.com/lib v0.0.0\n\n"+
		"replace example.com/lib => ../lib\n")
	write("sim/main.go", "package main\n\nimport \"example.com/lib\"\n\nfunc main() { lib.Do() }\n")
	write("lib/go.mod", "module example.com/lib\n\ngo 1.24\n")
	write("lib/lib.go", "package lib\n\nimport _ \"embed\"\n\n"+
		"//go:embed text\nvar text string\n\nfunc Do() { println(text) }\n")
	write("lib/text", "one")
	write("lib/unused/unused.go", "package unused\n")
	of := func() string {
		s, err := folder(t.Context(), filepath.Join(dir, "sim"), ".", "linux", "arm64")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.module).To(Equal("example.com/sim"))
		return s.version
	}
	first := of()
	write("lib/unused/unused.go", "package unused // changed\n")
	g.Expect(of()).To(Equal(first), "nothing imports it")
	write("lib/text", "two")
	second := of()
	g.Expect(second).NotTo(Equal(first))
	write("lib/go.mod", "module example.com/lib\n\ngo 1.23\n")
	third := of()
	g.Expect(third).NotTo(Equal(second))
	write("sim/main.go", "package main\n\nimport \"example.com/lib\"\n\nfunc main() { lib.Do(); lib.Do() }\n")
	g.Expect(of()).NotTo(Equal(third))

	g.Expect(os.RemoveAll(filepath.Join(dir, "lib"))).To(Succeed())
	c := &Cache{Dir: t.TempDir()}
	_, err := c.MainOf(t.Context(), filepath.Join(dir, "sim"), ".", "linux", "arm64")
	g.Expect(err).To(MatchError(And(ContainSubstring("the module in "+filepath.Join(dir, "sim")),
		ContainSubstring("../lib"))))
}

// With the real go command: it must build what is vendored, which is nowhere else.
func TestAFolderIsBuiltFromWhatItVendors(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write := func(name, text string) {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	write("go.mod", "module example.com/acme\n\ngo 1.24\n\nrequire example.com/lib v1.0.0\n")
	write("main.go", "package main\n\nimport \"example.com/lib\"\n\nfunc main() { lib.Do() }\n")
	write("vendor/modules.txt", "# example.com/lib v1.0.0\n## explicit; go 1.24\nexample.com/lib\n")
	write("vendor/example.com/lib/lib.go", "package lib\n\nfunc Do() { println(1) }\n")
	c := &Cache{Dir: t.TempDir()}
	first, err := c.MainOf(t.Context(), dir, ".", "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.MainOf(t.Context(), dir, ".", "", "")).To(Equal(first))

	write("vendor/example.com/lib/lib.go", "package lib\n\nfunc Do() { println(2) }\n")
	g.Expect(c.MainOf(t.Context(), dir, ".", "", "")).NotTo(Equal(first))
}

// used is the script of a go command in a module that uses another one. Its only file is
// $SOURCE/main.go.
const used = `
case "$1 $2" in
"list -deps") printf '%s\n@k8s.io/client-go@v0.36.0\n\n@k8s.io/client-go@v0.36.0\n' "$SOURCE/main.go" ;;
"list -f") echo main ;;
build*)
	while [ "$1" != -o ]; do shift; done; echo "$(pwd) $3" > "$2" ;;
esac`

func TestAModuleInUseIsBuiltAsItIs(t *testing.T) {
	g := NewWithT(t)
	here, err := os.Getwd()
	g.Expect(err).NotTo(HaveOccurred())
	main := filepath.Join(t.TempDir(), "main.go")
	t.Setenv("SOURCE", filepath.Dir(main))
	fakeGo(t, used)
	c := &Cache{Dir: t.TempDir()}
	build := func(content string) string {
		g.Expect(os.WriteFile(main, []byte(content), 0o600)).To(Succeed())
		binary, err := c.MainInUse(t.Context(), "example.com/used", "./cmd/sim", "", "")
		g.Expect(err).NotTo(HaveOccurred())
		return binary
	}
	first := build("package main")
	g.Expect(os.ReadFile(first)).To(BeEquivalentTo(here+" example.com/used/cmd/sim\n"),
		"by its whole name, where it is used")
	g.Expect(build("package main")).To(Equal(first))
	g.Expect(build("package main // changed")).NotTo(Equal(first))
	g.Expect(os.Remove(main)).To(Succeed())
	_, err = c.MainInUse(t.Context(), "example.com/used", "./cmd/sim", "", "")
	g.Expect(err).To(MatchError(ContainSubstring("./cmd/sim of example.com/used, in the module of the working directory")))
}

func TestALibraryIsNoProgram(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("SOURCE", t.TempDir())
	fakeGo(t, modules)
	c := &Cache{Dir: t.TempDir()}
	_, err := c.Main(t.Context(), "example.com/karpenter", "v1.15.0", "./pkg", "", "")
	g.Expect(err).To(MatchError(ContainSubstring("package ./pkg of example.com/karpenter@v1.15.0 is no program")))
	g.Expect(entries(t, c)).To(BeEmpty())
}
