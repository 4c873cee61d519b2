package providers

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// templates tries every template on sample values.
func (c *checker) templates() {
	k, sample := &c.a.Controller, c.a.SampleValues(c.a.Source.Version)
	complain := func(at string, err error) { c.add(at, "%v", err) }
	expandAll(k.Image, "controller.image", sample, complain)
	for _, name := range slices.Sorted(maps.Keys(k.Env)) {
		expandAll(k.Env[name], join("controller.env", name), sample, complain)
	}
	for _, name := range slices.Sorted(maps.Keys(k.Files)) {
		c.fileTemplate(join("controller.files", name), k.Files[name], sample)
	}
	if k.Chart != nil {
		expandAll(k.Chart.Values, "controller.chart.values", sample, complain)
	}
	c.manifestTemplates("controller.manifests", k.Manifests, sample)
	if c.a.Management != nil {
		c.manifestTemplates("management.manifests", c.a.Management.Manifests, sample)
	}
}

// manifestTemplates tries the texts of manifests.
func (c *checker) manifestTemplates(at string, manifests []string, sample Values) {
	for i, p := range manifests {
		if _, err := c.a.Files("").stat(p); err != nil || fromSource(p) {
			continue // not downloaded yet, or already reported
		}
		files, err := c.a.Files("").YAMLs(p)
		if err != nil {
			c.add(fmt.Sprintf("%s[%d]", at, i), "%v", err)
		}
		for _, f := range files {
			if _, err := Expand(string(f.Raw), sample); err != nil {
				c.add(fmt.Sprintf("%s[%d]", at, i), "%s: %v", f.Name, err)
			}
		}
	}
}

// fileTemplate tries the text of a file for the controller.
func (c *checker) fileTemplate(at string, f File, sample Values) {
	if fromSource(f.File) {
		return // not downloaded yet
	}
	text, err := c.a.Files("").Text(f)
	if err != nil {
		return // already reported
	}
	if _, err := Expand(text, sample); err != nil {
		if f.File != "" {
			at, err = join(at, "file"), fmt.Errorf("%s: %w", f.File, err)
		}
		c.add(at, "%v", err)
	}
}

// checkObjects checks the NodeClass and the templates of NodePools and NodeClaims.
func (c *checker) checkObjects() {
	class, err := c.a.content(c.a.NodeClass)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.path("nodeClass", c.a.NodeClass.File)
	case err != nil:
		c.add("nodeClass", "%v", err)
	case class == nil:
		c.add("nodeClass", "missing; write the object, or the path of its file")
	default:
		o := unstructured.Unstructured{Object: class}
		if o.GetAPIVersion() == "" {
			c.add("nodeClass", "apiVersion is missing, such as karpenter.k8s.aws/v1")
		}
		if o.GetKind() == "" {
			c.add("nodeClass", "kind is missing, such as EC2NodeClass")
		}
		c.topLevel("nodeClass", class, "apiVersion", "kind", "metadata", "spec", "status")
	}

	c.template("nodePool", "NodePool", c.a.NodePool, "spec", "template", "spec", "requirements")
	c.template("nodeClaim", "NodeClaim", c.a.NodeClaim, "spec", "requirements")
}

// template checks the template of one kind of objects. The path leads to their requirements.
func (c *checker) template(at, kind string, object Object, path ...string) {
	content, err := c.a.content(object)
	if errors.Is(err, fs.ErrNotExist) {
		c.path(at, object.File)
		return
	}
	if err != nil {
		c.add(at, "%v", err)
		return
	}
	if is := (&unstructured.Unstructured{Object: content}).GetKind(); is != "" && is != kind {
		c.add(at, "kind is `%s`; write %s or leave it out", is, kind)
	}
	c.topLevel(at, content, "apiVersion", "kind", "metadata", "spec")
	list, _, err := unstructured.NestedSlice(content, path...)
	at = join(at, strings.Join(path, "."))
	if err != nil {
		c.add(at, "is not a list; each requirement has key, operator and values")
	}
	c.requirements(at, list)
}

// topLevel reports unknown top-level keys of an API object. The API server checks the rest.
func (c *checker) topLevel(at string, object map[string]any, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, key) {
			c.add(join(at, key), "unknown field `%s`%s", key, hint(key, known))
		}
	}
}

// requirements checks requirements. Without this check a mistake would show only as
// nodes that never come.
func (c *checker) requirements(at string, list []any) {
	operators := []corev1.NodeSelectorOperator{
		corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, "Gte", "Lte",
	}
	for i, item := range list {
		here := fmt.Sprintf("%s[%d]", at, i)
		r, ok := item.(map[string]any)
		if !ok || r["key"] == nil {
			c.add(here, "`key` is missing")
			continue
		}
		if operator, _ := r["operator"].(string); !slices.Contains(operators, corev1.NodeSelectorOperator(operator)) {
			c.add(join(here, "operator"), "unknown operator `%s`%s", operator, hint(operator, operators))
		}
	}
}

func (c *checker) capabilities() {
	for _, name := range slices.Sorted(maps.Keys(c.a.Capabilities)) {
		at, s := join("capabilities", string(name)), c.a.Capabilities[name]
		if !slices.Contains(Capabilities(), name) {
			c.add(at, "unknown capability `%s`%s", name, hint(string(name), Capabilities()))
		}
		states := []State{Supported, Unsupported, Unknown}
		if s.State != "" && !slices.Contains(states, s.State) {
			c.add(at, "unknown state `%s`%s", s.State, hint(string(s.State), states))
		}
		if s.Within < 0 || s.Toleration < 0 {
			c.add(at, "within and toleration cannot be negative")
		}
		if name == NodeClassHash && s.State == Supported && s.Annotation == "" {
			c.add(at, "`annotation` is missing: the key of the annotation with the hash")
		}
		c.convertedNodeClasses(at, name, s)
		for field, release := range map[string]string{"since": s.Since, "until": s.Until} {
			if _, err := semver.NewVersion(release); release != "" && err != nil {
				c.add(join(at, field), "`%s` is not a release such as 1.15", release)
			}
		}
		if s.Condition != (NodeCondition{}) &&
			(s.Condition.Type == "" || !slices.Contains([]string{"True", "False", "Unknown"}, s.Condition.Status)) {
			c.add(join(at, "condition"), "needs a type, and a status of True, False or Unknown")
		}
	}
}

// convertedNodeClasses checks what a capability says of NodeClasses in two versions.
func (c *checker) convertedNodeClasses(at string, name Capability, s Support) {
	if name == NodeClassConversion && s.State != Unsupported && s.State != Unknown && len(s.NodeClasses) == 0 {
		c.add(at, "`nodeClasses` is missing: what NodeClasses say in v1beta1 and in v1, which specs compare")
	}
	for _, label := range slices.Sorted(maps.Keys(s.NodeClasses)) {
		here, versions := join(join(at, "nodeClasses"), label), s.NodeClasses[label]
		if len(validation.IsDNS1123Label(label)) > 0 {
			c.add(here, "`%s` is not a DNS label: lower-case letters, digits and `-`", label)
		}
		if written := []string{karpenter.V1Beta1, karpenter.NodeClaims.Version}; versions.Written != "" &&
			!slices.Contains(written, versions.Written) {
			c.add(join(here, "written"), "unknown version `%s`%s", versions.Written, hint(versions.Written, written))
		}
		for field, part := range map[string]map[string]any{
			"both": versions.Both, "v1beta1": versions.V1Beta1, "v1": versions.V1,
		} {
			for _, key := range slices.Sorted(maps.Keys(part)) {
				if _, isMap := part[key].(map[string]any); key != "spec" && key != "metadata" || !isMap {
					c.add(join(join(here, field), key), "only the mappings spec and metadata are compared")
				}
			}
		}
	}
}

// specID matches the ID of a spec.
var specID = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)+$`)

func (c *checker) knownFailures() {
	const wanted = "missing; a known failure names its spec, the releases, the address of its issue or finding, " +
		"the reason, and what it breaks"
	for i, k := range c.a.KnownFailures {
		at := fmt.Sprintf("knownFailures[%d]", i)
		for field, v := range map[string]string{
			"spec": k.Spec, "issue": k.Issue, "reason": k.Reason, "releases": k.Releases,
		} {
			if v == "" {
				c.add(join(at, field), wanted)
			}
		}
		if k.Spec != "" && !specID.MatchString(k.Spec) {
			c.add(join(at, "spec"), "`%s` is not the ID of a spec such as drift/one-to-one; `make list` shows them all", k.Spec)
		}
		if len(k.Breaks) == 0 {
			c.add(join(at, "breaks"), wanted)
		}
		for n, what := range k.Breaks {
			if _, err := regexp.Compile(what); err != nil {
				c.add(fmt.Sprintf("%s.breaks[%d]", at, n), "is not a regular expression of Go: %v", err)
			}
		}
		if _, err := regexp.Compile(k.Explored); err != nil {
			c.add(join(at, "explored"), "is not a regular expression of Go: %v", err)
		}
		if _, err := semver.NewConstraint(k.Releases); err != nil && k.Releases != "" {
			c.add(join(at, "releases"), "`%s` is not a constraint such as \">=1.6.0 <=1.15.0\": %v", k.Releases, err)
		}
	}
}

func (c *checker) simulator() {
	s := c.a.Simulator
	if s == nil {
		return
	}
	c.runs("simulator", s.Image, s.Build)
	if s.Port < 1 || s.Port > 65535 {
		c.add("simulator.port", "%d is not a port; write 1 to 65535", s.Port)
	}
	if !strings.HasPrefix(s.Ready, "/") {
		c.add("simulator.ready", "`%s` is not an HTTP path such as /healthz", s.Ready)
	}
	for _, optional := range []struct{ name, path string }{
		{"unknown", s.Unknown}, {"calls", s.Calls}, {"faults", s.Faults},
	} {
		if optional.path != "" && !strings.HasPrefix(optional.path, "/") {
			c.add("simulator."+optional.name, "`%s` is not an HTTP path such as /%s", optional.path, optional.name)
		}
	}
	if _, err := s.Proxies(""); err != nil {
		c.add("simulator.proxyReleases", "%v", err)
	}
	if s.ProxyReleases != "" && !s.Proxy {
		c.add("simulator.proxyReleases", "means nothing without `proxy: true`")
	}
	if _, err := s.Rules(); err != nil {
		c.add("simulator.rights", "%v", err)
	}
	values := c.a.SampleValues("")
	complain := func(at string, err error) { c.add(at, "%v", err) }
	for i, arg := range s.Args {
		expandAll(arg, fmt.Sprintf("simulator.args[%d]", i), values, complain)
	}
	expandAll(s.Image, "simulator.image", values, complain)
}
