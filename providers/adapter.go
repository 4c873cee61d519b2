package providers

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

// Adapter describes a provider to the harness. The YAML file has the same fields: their tags
// are the keys. Fill the struct in Go and call Validate, or Load a file.
//
// A path is absolute, or relative to Dir, or begins with "$source/", the folder of the
// downloaded source module.
type Adapter struct {
	// Name is a DNS label such as kwok; reports and spec names begin with it.
	Name string `yaml:"name"`
	// Base is another adapter: the name of a built-in one, such as kwok, or the path of its
	// file. The one named simulator holds what simulated clouds share. This adapter changes it:
	// mappings are merged, lists and values are replaced, and null removes a field. Paths in a base
	// start in the base's folder. A base may have a base. Base works in YAML only. Empty: none.
	Base string `yaml:"base"`
	// Source is the Go module with the chart, the CRDs and the code. It is optional
	// if no path begins with $source and nothing is built.
	Source Source `yaml:"source"`
	// Core is the release of Karpenter core that the provider links, such as v1.14.0. Empty: the
	// go.mod of the module that is built decides, or else the go.mod of the source module. If
	// that module is core itself, Core is Source.Version.
	Core string `yaml:"core"`
	// Controller says what runs and how it is installed.
	Controller Controller `yaml:"controller"`
	// CRDs are the provider's CRDs, Karpenter's included. They must come from the provider: it
	// is built against one version of them.
	CRDs []CRDs `yaml:"crds"`
	// Management is the management cluster, if that is another one than where the nodes are, as
	// Cluster API has it. Optional.
	Management *Management `yaml:"management"`
	// NodeClass is the NodeClass with which the provider can launch nodes.
	NodeClass Object `yaml:"nodeClass"`
	// NodePool gives every NodePool of a spec the fields that the spec leaves out.
	// Optional; see NodePoolTemplate for what is added.
	NodePool Object `yaml:"nodePool"`
	// NodeClaim does the same for every NodeClaim that no pod asks for: for standalone
	// NodeClaims and for those of static NodePools, their labels and annotations included. Only
	// their requirements decide what is launched. NodeClaim wins over NodePool. Optional; see
	// NodeClaimTemplate.
	NodeClaim Object `yaml:"nodeClaim"`
	// Names says what the provider accepts as names of NodePools and NodeClaims.
	Names NameRules `yaml:"names"`
	// CPULabel is the label with which the provider says how many CPUs a node has, such as
	// karpenter.k8s.aws/instance-cpu. Workloads that compare and scale play choose the sizes of
	// nodes by it. Empty: there is none, and they don't choose.
	CPULabel string `yaml:"cpuLabel"`
	// Capabilities says what the provider can do. A capability that is not listed is
	// unknown, and its specs are skipped.
	Capabilities map[Capability]Support `yaml:"capabilities"`
	// KnownFailures lists the specs that the provider is known to fail. They run, and
	// reports call them known. A report also says if such a spec passes.
	KnownFailures []KnownFailure `yaml:"knownFailures"`
	// Simulator replaces the provider's cloud. Optional.
	Simulator *Simulator `yaml:"simulator"`
	// Hooks reach what the Kubernetes API cannot reach, such as a cloud's instances.
	// Specs that need a missing hook are skipped.
	Hooks map[HookName]Hook `yaml:"hooks"`
	// Drifts are hooks that make nodes drift, by the reason that the provider gives. The
	// reasons are those of nodeClassDrift. ResetCloud puts back what these hooks change.
	Drifts map[string]Hook `yaml:"drifts"`

	// Dir is the folder where relative paths start. Load sets it to the folder of the
	// file. Empty: the working directory.
	Dir string `yaml:"-"`

	file     string              // the path of the file, for messages
	builtin  fs.FS               // the files of a built-in adapter, else nil
	mistakes Mistakes            // found while loading
	at       map[string]position // line and column of each path in the file
}

// Source is a Go module. It is downloaded from the Go module proxy.
type Source struct {
	// Module is the module's path, such as sigs.k8s.io/karpenter. Empty: nothing is taken from
	// a module, and Version is a value of templates only.
	Module string `yaml:"module"`
	// Version is the default release, such as v1.15.0; Selection overrides it. It may be a
	// branch or a commit of the module. What Go makes of it is what is built and reported.
	Version string `yaml:"version"`
}

// Controller is the provider's own process and the manifests around it.
type Controller struct {
	// Image is a reference to an image; a template. Set either Image or Build.
	Image string `yaml:"image"`
	// Build makes the image from Go source.
	Build *Build `yaml:"build"`
	// Namespace receives the controller. Empty: kube-system.
	Namespace string `yaml:"namespace"`
	// Chart is a Helm chart. Set Chart, Manifests or both.
	Chart *Chart `yaml:"chart"`
	// Manifests are files or folders of YAML; their text is a template. Beside a chart they
	// are what it lacks, such as a ConfigMap.
	Manifests []string `yaml:"manifests"`
	// Deployment is the name of the controller's Deployment. It is needed only if
	// there are several.
	Deployment string `yaml:"deployment"`
	// Env is set on the controller's container after the chart was rendered, and wins
	// over the chart. Values are templates.
	Env map[string]string `yaml:"env"`
	// Files are put into the controller's container, by their absolute paths there. Each
	// folder holds nothing else then.
	Files map[string]File `yaml:"files"`
	// Gates are feature gates. They win over those of the chart in FEATURE_GATES.
	Gates map[string]bool `yaml:"gates"`
	// Ports are the ports on which the controller listens, by names of your choice. The
	// numbers are preferences: where pods share the host's ports, the harness takes free
	// ones. {{.Ports.metrics}} is the number that was taken.
	Ports map[string]int `yaml:"ports"`
	// Ready says when the controller counts as ready.
	Ready Ready `yaml:"ready"`
	// Logs says which errors in the controller's log are harmless.
	Logs Logs `yaml:"logs"`
}

// Build names a main package of the source module, or of a module in a folder.
type Build struct {
	// Module is the folder of a module, relative to the adapter: for example a provider's own
	// repository. $plumbline is this module, in the version that the working directory's module
	// uses. Empty: the source module.
	Module string `yaml:"module"`
	// Package is relative to the module's root, such as ./kwok.
	Package string `yaml:"package"`
}

// Chart is a Helm chart.
type Chart struct {
	// Path is a folder or an archive (.tgz). It may also be remote: the oci:// reference of a
	// chart, the https:// URL of a repository with the chart's name as the last element, or
	// the https:// URL of an archive.
	Path string `yaml:"path"`
	// Version is the version in a registry or repository; a template.
	Version string `yaml:"version"`
	// Release is the release's name. Empty: karpenter.
	Release string `yaml:"release"`
	// Values win over the chart's own. Strings in them are templates; a string that is
	// only {{.Ports.x}} becomes a number.
	Values map[string]any `yaml:"values"`
}

// File is the content of a file, a template. In YAML it is the text itself, or {file: path}, the
// path of a file with the text.
type File struct {
	Text string
	File string `yaml:"file"`
}

// CRDs says where CRDs are. In YAML it is the path itself, or {chart: ..., version: ...}.
type CRDs struct {
	// Path is a file or a folder, or $chart, the controller's chart.
	Path string `yaml:"path"`
	// Chart is another chart, as Chart.Path is, whose CRDs are taken, in the version Version.
	Chart   string `yaml:"chart"`
	Version string `yaml:"version"`
	// Releases is a constraint on the release of Karpenter core that the provider links, such as
	// ">=1.1.0 <1.5.0". Other releases don't get these. Empty: all do.
	Releases string `yaml:"releases"`
}

// String returns the path or the chart, for messages.
func (c CRDs) String() string {
	return cmp.Or(c.Path, strings.TrimSpace(c.Chart+" "+c.Version))
}

// For reports whether these are for a provider that links a release of Karpenter core.
func (c CRDs) For(release string) (bool, error) {
	if c.Releases == "" {
		return true, nil
	}
	return Covers(c.Releases, release)
}

// Management is a management cluster: a second control plane without nodes. The controller and
// the simulator get the access of its administrator as a file; see Values.
type Management struct {
	// CRDs are installed there, such as those of Cluster API.
	CRDs []CRDs `yaml:"crds"`
	// Manifests are files or folders of YAML to apply there; their text is a template.
	Manifests []string `yaml:"manifests"`
}

// IsRemote tells whether the path of a chart is that of a registry or repository.
func IsRemote(chart string) bool {
	return strings.HasPrefix(chart, "oci://") || strings.HasPrefix(chart, "https://") ||
		strings.HasPrefix(chart, "http://")
}

// IsArchive tells whether the path of a chart is that of an archive.
func IsArchive(chart string) bool { return strings.HasSuffix(chart, ".tgz") }

// Ready says how long the controller may take to become ready.
type Ready struct {
	// Timeout counts from the creation of the controller's Deployment. Zero: 60 s.
	Timeout time.Duration `yaml:"timeout"`
}

// Logs says which errors in the controller's log are harmless.
type Logs struct {
	// Tolerate lists regular expressions for errors of the provider's own. A line that matches one
	// of them is ignored. So is what Karpenter core logs with every provider: see Tolerated.
	Tolerate []string `yaml:"tolerate"`
}

// Tolerated returns regular expressions for all harmless errors: those that Karpenter core logs
// with every provider, and Tolerate.
func (l Logs) Tolerated() []string {
	return append([]string{
		// A pod came before its NodePool was ready. The next try succeeds.
		"ignoring nodepool, not ready",
		// Karpenter logs this, besides the event, for a pod that fits no node.
		"could not schedule pod",
		// A NodeClaim exists without its NodePool while it drains.
		"NodePool.karpenter.sh .* not found",
		// Karpenter gives up a NodeClaim that fails to launch. An event has the reason.
		"failed launching nodeclaim",
		// As it should, Karpenter gives up a disruption when its replacement is lost.
		"failed terminating nodes while executing a disruption command",
	}, l.Tolerate...)
}

// NameRules says which names of NodePools and NodeClaims the provider accepts. The suites use
// names of at most 10 lower-case letters and digits, which begin with a letter. Validate
// reports rules that refuse such names. A spec of your own fails if it creates an object
// against the rules.
type NameRules struct {
	// Max is the greatest length, in characters. Zero: 63.
	Max int `yaml:"max"`
	// Pattern is a regular expression that must match the whole name. Empty: any DNS label.
	Pattern string `yaml:"pattern"`
}

// Accept returns nil if a name follows the rules, else an error that names the broken rule.
func (r NameRules) Accept(name string) error {
	if longest := cmp.Or(r.Max, defaultNameMax); len(name) > longest {
		return fmt.Errorf("the name %s has %d characters, and the adapter's `names` accepts at most %d", name,
			len(name), longest)
	}
	whole, err := regexp.Compile("^(?:" + r.Pattern + ")$")
	if err != nil {
		return fmt.Errorf("the adapter's `names.pattern` is not a regular expression of Go: %w", err)
	}
	if r.Pattern != "" && !whole.MatchString(name) {
		return fmt.Errorf("the name %s does not match the adapter's `names.pattern`, %s", name, r.Pattern)
	}
	return nil
}

// Object is an API object. In YAML it is the object itself or the path of a file.
type Object struct {
	File   string
	Inline map[string]any
}

// KnownFailure is a spec that the provider is known to fail.
type KnownFailure struct {
	// Spec is the spec's ID, such as "nodeclaim/deleted".
	Spec string `yaml:"spec"`
	// Releases is a constraint on the release of Karpenter core that the provider links,
	// such as ">=1.6.0 <=1.15.0". It covers the releases in which the failure was seen.
	Releases string `yaml:"releases"`
	// Issue is the address where others can read of the failure: of the upstream issue, or, as long as
	// there is none, of a finding that shows it, such as https://.../suites/findings.md#acme-zones.
	Issue string `yaml:"issue"`
	// Reason says in a sentence what goes wrong.
	Reason string `yaml:"reason"`
	// Breaks lists what the failure breaks, at least one. Each entry is an invariant's name, or its
	// name, a colon and a regular expression for what doesn't hold; or a regular expression over
	// other breaks as in reports: "always at most 3 NodeClaims", "waited for 2 ", "left behind:
	// Node ". Anything else that breaks fails the spec.
	Breaks []string `yaml:"breaks"`
	// Sometimes says that the failure depends on chance, so a pass proves nothing.
	Sometimes bool `yaml:"sometimes"`
	// Explored is a regular expression. A sequence that `make explore` makes up fails for the same reason if its YAML
	// matches, and if it breaks nothing but what Breaks lists. Empty: none does.
	Explored string `yaml:"explored"`
}

// Covers tells whether a constraint, such as ">=1.6.0 <=1.15.0", covers a release, such as
// v1.15.0. It covers no release that isn't a version, such as a branch. The error says that
// the constraint is malformed.
func Covers(releases, release string) (bool, error) {
	constraint, err := semver.NewConstraint(releases)
	if err != nil {
		return false, fmt.Errorf("%q is not a constraint such as \">=1.6.0 <=1.15.0\": %w", releases, err)
	}
	v, err := semver.NewVersion(release)
	return err == nil && constraint.Check(v), nil
}

// Simulator plays the provider's cloud. It is an HTTP server in a pod of its own, which starts
// before the controller and outlives the controller's restarts. Templates of the controller
// get its address as {{.Simulator}}. It may create, change and delete nodes; see Rights.
type Simulator struct {
	// Image is a reference to an image; a template. Set either Image or Build.
	Image string `yaml:"image"`
	// Build makes the image from Go source.
	Build *Build `yaml:"build"`
	// Args are the arguments of its entrypoint; templates.
	Args []string `yaml:"args"`
	// Port is a preference: where pods share the host's ports, the harness takes a free one.
	Port int `yaml:"port"`
	// TLS gives the simulator a CA, with which it serves TLS and plain HTTP at the same port.
	// The controller gets its certificate as a file; see Values.
	TLS bool `yaml:"tls"`
	// Proxy is for clouds whose address can't be set: the controller reaches them through the
	// simulator, by HTTPS_PROXY. It implies TLS.
	Proxy bool `yaml:"proxy"`
	// ProxyReleases is a constraint on the release of Karpenter core that the provider links, such
	// as "<1.1.0". Controllers of other releases know the cloud's address, and get no HTTPS_PROXY.
	// Empty: all get it.
	ProxyReleases string `yaml:"proxyReleases"`
	// Ready is the HTTP path that answers 200 as soon as the simulator serves.
	Ready string `yaml:"ready"`
	// Unknown is the HTTP path that answers with a JSON list of the calls that the simulator
	// doesn't know. A run shows them at its end. Optional.
	Unknown string `yaml:"unknown"`
	// Calls is the HTTP path that answers with the number of calls that may have changed the
	// cloud, as a JSON object: {"writes": {"CreateVM": 2}}. `make crash` strikes each. Optional.
	Calls string `yaml:"calls"`
	// Faults is the HTTP path by which calls fail. POST begins a fault, by the parameters of
	// package simulator's faults; GET answers with a JSON list of all, in the order in which
	// they began, and how often each has struck: [{"struck": 1}]; DELETE ends all. Optional.
	Faults string `yaml:"faults"`
	// Rights are RBAC rules for anything else that the simulator does to the cluster.
	Rights []map[string]any `yaml:"rights"`
}

const (
	defaultNamespace = "kube-system"
	defaultRelease   = "karpenter"
	defaultTimeout   = 60 * time.Second
	defaultNameMax   = 63

	defaultClusterName = "plumbline"

	// OwnFolder is the folder in containers for the harness's own files.
	OwnFolder = "/etc/plumbline"

	// OwnChart, among CRDs, stands for the controller's chart.
	OwnChart = "$chart"

	// Plumbline, as the module of a Build, stands for this module.
	Plumbline = "$plumbline"
)

func (c *Controller) namespace() string { return cmp.Or(c.Namespace, defaultNamespace) }

// ReleaseName returns the name under which the chart is rendered.
func (c *Chart) ReleaseName() string { return cmp.Or(c.Release, defaultRelease) }

// Within returns how long the controller may take to become ready.
func (r Ready) Within() time.Duration { return cmp.Or(r.Timeout, defaultTimeout) }
