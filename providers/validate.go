package providers

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	semverlib "github.com/Masterminds/semver/v3"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate returns all mistakes in the adapter, as Mistakes. install.Prepare, which
// downloads the source module, checks the files in it.
func (a *Adapter) Validate() error {
	c := &checker{a: a, mistakes: slices.Clone(a.mistakes)}
	if a.mistakes == nil || len(a.at) > 1 { // else the file is not a mapping, which is reported already
		c.checkAll()
	}
	if len(c.mistakes) == 0 {
		return nil
	}
	return c.mistakes.sorted()
}

// checker collects the mistakes in an adapter.
type checker struct {
	a        *Adapter
	mistakes Mistakes
}

// add records a mistake at a path of the adapter, unless the decoder found one there:
// each mistake is reported once.
func (c *checker) add(at, format string, args ...any) {
	if slices.ContainsFunc(c.a.mistakes, func(m Mistake) bool { return m.Path == at && at != "" }) {
		return
	}
	m := Mistake{File: c.a.file, Path: at, Message: fmt.Sprintf(format, args...)}
	for p := at; c.a.at != nil; {
		if where, known := c.a.at[p]; known {
			m.File, m.Line, m.Column = where.file, where.line, where.column
			break
		}
		if p == "" {
			break
		}
		p = p[:max(0, strings.LastIndexAny(p, ".["))]
	}
	c.mistakes = append(c.mistakes, m)
}

func (c *checker) checkAll() {
	c.identity()
	c.controller()
	c.installing()
	c.templates()
	c.checkObjects()
	c.capabilities()
	c.knownFailures()
	c.simulator()
	c.hooks()
}

func (c *checker) identity() {
	a := c.a
	if a.Name == "" {
		c.add("name", "missing; write a DNS label such as kwok")
	} else if bad := validation.IsDNS1123Label(a.Name); bad != nil {
		c.add("name", "`%s` is not a DNS label such as kwok: %s", a.Name, bad[0])
	}
	if a.Core != "" && !semver.IsValid(a.Core) {
		c.add("core", "`%s` is not a version; write one such as v1.14.0", a.Core)
	}
	if bad := validation.IsQualifiedName(a.CPULabel); bad != nil && a.CPULabel != "" {
		c.add("cpuLabel", "`%s` is not a label such as karpenter.k8s.aws/instance-cpu: %s", a.CPULabel, bad[0])
	}
	c.names()
	if a.Source == (Source{}) {
		return
	}
	if err := module.CheckPath(a.Source.Module); err != nil && a.Source.Module != "" {
		c.add("source.module", "`%s` is not the path of a Go module such as sigs.k8s.io/karpenter", a.Source.Module)
	}
	c.version("source.version", a.Source)
}

// commitish matches branches and commits, of which Go can ask a module proxy.
var commitish = regexp.MustCompile(`^[A-Za-z0-9_][\w.-]*$`)

// version checks the version of the source module: a release, a branch or a commit. Without a
// module it is only a value of templates, so it must be a release.
func (c *checker) version(at string, s Source) {
	switch v := s.Version; {
	case semver.IsValid(v):
	case strings.Contains(v, "/"):
		c.add(at, "`%s` can't be asked of a Go module proxy, because of the slash; write the branch's commit", v)
	case s.Module == "", strings.Contains(v, ".") && semver.IsValid("v"+v), !commitish.MatchString(v),
		slices.Contains([]string{"latest", "upgrade", "patch", "none"}, v): // Go's words for releases
		c.add(at, "`%s` is not a version; write one such as v1.15.0, or a module's branch or commit", v)
	}
}

// names checks that the rules for names accept the suites' names. The examples have the
// form of the names that package fixtures makes.
func (c *checker) names() {
	rules := c.a.Names
	c.regexp("names.pattern", rules.Pattern)
	if rules.Max < 0 || rules.Max > 253 {
		c.add("names.max", "%d is not the length of a name; write 1 to 253", rules.Max)
		return
	}
	for _, example := range []string{"claim24567", "poolbcdfg"} {
		if err := rules.Accept(example); err != nil {
			c.add("names", "%v; the suites use names of this form", err)
			return
		}
	}
}

func (c *checker) controller() {
	k := &c.a.Controller
	c.runs("controller", k.Image, k.Build)
	if bad := validation.IsDNS1123Label(k.namespace()); bad != nil {
		c.add("controller.namespace", "`%s` is not a namespace: %s", k.Namespace, bad[0])
	}
	for _, name := range slices.Sorted(maps.Keys(k.Ports)) {
		if port := k.Ports[name]; port < 1 || port > 65535 {
			c.add(join("controller.ports", name), "%d is not a port; write 1 to 65535", port)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Env)) {
		if bad := validation.IsEnvVarName(name); bad != nil {
			c.add(join("controller.env", name), "`%s` is not the name of an environment variable", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Files)) {
		c.file(join("controller.files", name), name, k.Files[name])
	}
	if k.Ready.Timeout < 0 {
		c.add("controller.ready.timeout", "%s is negative", k.Ready.Timeout)
	}
	for i, pattern := range k.Logs.Tolerate {
		c.regexp(fmt.Sprintf("controller.logs.tolerate[%d]", i), pattern)
	}
}

// file checks the path of a file in the controller's container, and where its text comes from.
func (c *checker) file(at, name string, f File) {
	folder := path.Dir(name)
	switch {
	case !path.IsAbs(name) || path.Clean(name) != name || folder == "/":
		c.add(at, "`%s` is not the path of a file in a folder; write one such as /etc/acme/cloud.json", name)
	case slices.Contains(systemFolders(), folder):
		c.add(at, "would hide all other files in %s; write a path in a folder of its own, such as %s", folder,
			path.Join(folder, c.a.Name, path.Base(name)))
	case strings.HasPrefix(name, OwnFolder+"/"):
		c.add(at, "%s is the harness's own folder; write a path in another one", OwnFolder)
	}
	switch {
	case f.File == "":
	case f.Text != "":
		c.add(at, "`text` and `file` exclude each other; keep one")
	case c.path(join(at, "file"), f.File) && !fromSource(f.File):
		if info, err := c.a.Files("").stat(f.File); err != nil || info.IsDir() {
			c.add(join(at, "file"), "%s is a folder; write the path of a file", f.File)
		}
	}
}

// systemFolders returns the folders of an image that a program needs as they are.
func systemFolders() []string {
	return []string{
		"/bin", "/dev", "/etc", "/etc/ssl", "/etc/ssl/certs", "/lib", "/proc", "/run", "/sbin", "/sys", "/tmp",
		"/usr", "/usr/bin", "/var", "/var/run",
	}
}

// runs checks that there is either an image or a build.
func (c *checker) runs(at, image string, b *Build) {
	switch {
	case image == "" && b == nil:
		c.add(at, "`image` or `build` is missing; one of them says what runs")
	case image != "" && b != nil:
		c.add(at, "`image` and `build` exclude each other; keep one")
	}
	if b == nil {
		return
	}
	if p := b.Package; p != "." && !strings.HasPrefix(p, "./") || strings.Contains(p, "..") {
		c.add(join(at, "build.package"),
			"`%s` is not a package of the module; write it relative to its root, such as ./cmd/controller", p)
	}
	c.module(join(at, "build"), b.Module)
}

// module checks that there is a module to build.
func (c *checker) module(at, dir string) {
	switch {
	case dir == Plumbline:
	case dir == "":
		c.needsSource(at)
	case c.a.builtin != nil || fromSource(dir):
		c.add(join(at, "module"), "`%s` is not a folder beside the adapter", dir)
	default:
		if _, err := c.a.Files("").stat(path.Join(dir, "go.mod")); err != nil {
			c.add(join(at, "module"), "%s holds no go.mod; write the folder of a Go module, relative to the adapter", dir)
		}
	}
}

// installing checks the chart, the manifests and the CRDs.
func (c *checker) installing() {
	k := &c.a.Controller
	if k.Chart == nil && len(k.Manifests) == 0 {
		c.add("controller", "`chart` or `manifests` is missing; one of them says what is installed")
	}
	if k.Chart != nil {
		c.chart("controller.chart", "path", k.Chart.Path, k.Chart.Version)
		if bad := validation.IsDNS1123Label(k.Chart.ReleaseName()); bad != nil {
			c.add("controller.chart.release", "`%s` is not the name of a release: %s", k.Chart.Release, bad[0])
		}
	}
	for i, p := range k.Manifests {
		c.path(fmt.Sprintf("controller.manifests[%d]", i), p)
	}
	if len(c.a.CRDs) == 0 {
		c.add("crds", "missing; write the files or folders of the provider's CRDs, such as $source/pkg/apis/crds, or $chart")
	}
	for i, crds := range c.a.CRDs {
		c.crds(fmt.Sprintf("crds[%d]", i), crds)
	}
	if c.a.Management == nil {
		return
	}
	for i, p := range c.a.Management.Manifests {
		c.path(fmt.Sprintf("management.manifests[%d]", i), p)
	}
	for i, crds := range c.a.Management.CRDs {
		c.crds(fmt.Sprintf("management.crds[%d]", i), crds)
	}
}

func (c *checker) crds(at string, crds CRDs) {
	if _, err := crds.For(""); err != nil {
		c.add(join(at, "releases"), "%v", err)
	}
	switch {
	case crds.Path != "" && crds.Chart != "":
		c.add(at, "`path` and `chart` exclude each other; keep one")
	case crds.Path == OwnChart && c.a.Controller.Chart == nil:
		c.add(at, "there is no controller.chart; write the file or folder of the CRDs, or {chart: ..., version: ...}")
	case crds.Path == OwnChart:
	case crds.Path != "":
		c.path(at, crds.Path)
	default:
		c.chart(at, "chart", crds.Chart, crds.Version)
	}
}

// chart checks where a chart is. Key is the field that says so.
func (c *checker) chart(at, key, p, version string) {
	last := p[strings.LastIndex(p, "/")+1:]
	switch {
	case p == "":
		c.add(join(at, key), "missing; write the folder or the archive (.tgz) of a Helm chart, or an oci:// reference")
		return
	case !IsRemote(p):
		if version != "" {
			c.add(join(at, "version"), "is only for a chart in a registry or repository; the version of a folder or an archive "+
				"is in its Chart.yaml")
		}
		c.localChart(join(at, key), p)
		return
	case last == "":
		c.add(join(at, key), "`%s` names no chart; its last element must, as in oci://registry.example/charts/acme or "+
			"https://charts.example/acme", p)
	case strings.HasPrefix(p, "oci://") && strings.Contains(last, ":") && !strings.Contains(last, "@"):
		c.add(join(at, key), "`%s` has a tag; write it as the `version`", p)
	case version == "" && !IsArchive(p) && !strings.Contains(last, "@"):
		c.add(join(at, "version"), "missing; write the chart's version, such as 1.2.3, or {{slice .Version 1}}: without "+
			"one, each release of the chart would change what is tested")
	}
	text, err := Expand(version, c.a.SampleValues(c.a.Source.Version))
	if err != nil {
		c.add(join(at, "version"), "%v", err)
	} else if _, err := semverlib.NewVersion(text); text != "" && err != nil {
		c.add(join(at, "version"), "`%s` is not a version; write one such as 1.2.3", text)
	}
}

// localChart checks that the folder or archive of a chart is there. Those in the source module
// can't be checked yet.
func (c *checker) localChart(at, p string) {
	if !c.path(at, p) || fromSource(p) || IsArchive(p) {
		return
	}
	if _, err := c.a.Files("").stat(path.Join(p, "Chart.yaml")); err != nil {
		c.add(at, "%s holds no Chart.yaml; write the folder or the archive (.tgz) of a Helm chart", p)
	}
}

// path checks that a path exists. Paths in the source module can't be checked yet.
func (c *checker) path(at, p string) (ok bool) {
	if fromSource(p) {
		c.needsSource(at)
		return true
	}
	if _, err := c.a.Files("").stat(p); err != nil {
		c.add(at, "%s does not exist; paths are relative to the adapter or begin with $source/", p)
		return false
	}
	return true
}

func (c *checker) needsSource(at string) {
	if c.a.Source.Module == "" {
		c.add(at, "`source.module` is missing, the Go module that holds it")
	}
}

func (c *checker) regexp(at, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		c.add(at, "is not a regular expression of Go: %v", err)
	}
}
