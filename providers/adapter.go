package providers

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/Masterminds/semver/v3"
)

// Adapter is the little that the harness must be told about a provider. The
// YAML file and this struct are the same thing: every field's key in YAML is
// its tag. Fill it in Go and call Validate, or Load a file.
//
// Paths are relative to Dir, absolute, or begin with "$source/", the folder
// of the downloaded source module.
type Adapter struct {
	// Name is a DNS label such as kwok; reports and spec names begin with it.
	Name string `yaml:"name"`
	// Base is a built-in adapter that this one is laid over, such as kwok: of
	// mappings what this one doesn't name stays, lists and values are replaced,
	// and null takes away. In YAML only. Empty: none.
	Base string `yaml:"base"`
	// Source is the Go module that holds what is installed. It is optional if
	// no path begins with $source and nothing is built.
	Source Source `yaml:"source"`
	// Core is the release of Karpenter core that the provider links, such as
	// v1.14.0. Empty: what the go.mod of the module requires that is built, or else
	// that of the source module. Where that module is core itself: Source.Version.
	Core string `yaml:"core"`
	// Controller says what runs and how it is installed.
	Controller Controller `yaml:"controller"`
	// CRDs are files or folders. They must be the provider's own ones, those of
	// Karpenter included: a provider is built against one version of them.
	CRDs []string `yaml:"crds"`
	// NodeClass is the NodeClass with which the provider can launch nodes.
	NodeClass Object `yaml:"nodeClass"`
	// NodePool is laid below every NodePool of a spec: what the spec leaves
	// open comes from here. Optional; see NodePoolTemplate for what is added.
	NodePool Object `yaml:"nodePool"`
	// NodeClaim is laid, above NodePool, below every NodeClaim that no pod asks
	// for: standalone ones and those of static NodePools, whose requirements alone
	// decide what is launched. Optional; see NodeClaimTemplate.
	NodeClaim Object `yaml:"nodeClaim"`
	// Names says what the provider accepts as names of NodePools and NodeClaims.
	Names NameRules `yaml:"names"`
	// Capabilities says what the provider can do. What is not listed is unknown
	// and its specs are skipped.
	Capabilities map[Capability]Support `yaml:"capabilities"`
	// KnownFailures are those of the provider's own that its authors know of. The
	// specs run, show as known, and say so when they pass after all.
	KnownFailures []KnownFailure `yaml:"knownFailures"`
	// Simulator is the stand-in for the provider's cloud. Optional.
	Simulator *Simulator `yaml:"simulator"`
	// Hooks reach what the Kubernetes API cannot, such as a cloud's instances.
	// A hook that is missing skips the specs that need it.
	Hooks map[HookName]Hook `yaml:"hooks"`
	// Drifts are hooks that bring about each of the reasons of nodeClassDrift, by reason.
	// What they change is put back by ResetCloud.
	Drifts map[string]Hook `yaml:"drifts"`

	// Dir is the folder where relative paths start; Load sets it to the file's.
	// Empty: the working directory.
	Dir string `yaml:"-"`

	file     string              // where it was loaded from, for messages
	builtin  fs.FS               // files of a built-in adapter, else nil
	mistakes Mistakes            // found while loading
	at       map[string]position // where each path of the file stands
}

// Source is a Go module, fetched through the Go module proxy.
type Source struct {
	// Module is its path, such as sigs.k8s.io/karpenter.
	Module string `yaml:"module"`
	// Version is the default release, such as v1.15.0; Selection overrides it.
	Version string `yaml:"version"`
}

// Controller is the provider's own process and the manifests around it.
type Controller struct {
	// Image is the reference of a ready image; a template. Either this or Build.
	Image string `yaml:"image"`
	// Build makes the image from Go source.
	Build *Build `yaml:"build"`
	// Namespace receives the controller. Empty: kube-system.
	Namespace string `yaml:"namespace"`
	// Chart is a Helm chart. Either this or Manifests.
	Chart *Chart `yaml:"chart"`
	// Manifests are files or folders of YAML; their text is a template.
	Manifests []string `yaml:"manifests"`
	// Deployment is the controller's. Needed only if several are installed.
	Deployment string `yaml:"deployment"`
	// Env is set on the controller's container after rendering and replaces
	// what the chart set; values are templates.
	Env map[string]string `yaml:"env"`
	// Gates are feature gates, laid over those of the chart in FEATURE_GATES.
	Gates map[string]bool `yaml:"gates"`
	// Ports are those on which the controller listens, by a name of your choice:
	// {{.Ports.metrics}} is the one that it got. The number is the preferred one;
	// where pods share the host's ports it becomes a free one.
	Ports map[string]int `yaml:"ports"`
	// Ready says when the controller counts as ready.
	Ready Ready `yaml:"ready"`
	// Logs says what in the controller's log is no reason to worry.
	Logs Logs `yaml:"logs"`
}

// Build is a main package of the source module, or of a module in a folder.
type Build struct {
	// Module is the folder of the module, relative to the adapter: for a
	// provider that is built as it lies in its own repository. It must not
	// replace modules by other folders. $plumbline is this module, as the working
	// directory's module uses it. Empty: the source module.
	Module string `yaml:"module"`
	// Package is relative to the module's root, such as ./kwok.
	Package string `yaml:"package"`
}

// Chart is a Helm chart in a folder.
type Chart struct {
	Path string `yaml:"path"`
	// Release is the release's name. Empty: karpenter.
	Release string `yaml:"release"`
	// Values are laid over the chart's own; strings in them are templates. A
	// string that is only {{.Ports.x}} becomes a number.
	Values map[string]any `yaml:"values"`
}

// Ready says how long the controller may take to become ready.
type Ready struct {
	// Timeout, from the moment its Deployment is created. Zero: 60 s.
	Timeout time.Duration `yaml:"timeout"`
}

// Logs tells errors that matter from those that don't.
type Logs struct {
	// Tolerate are regular expressions; a line that one of them matches is ignored.
	Tolerate []string `yaml:"tolerate"`
}

// NameRules is what the provider accepts as the name of a NodePool or NodeClaim. The names
// in the suites are at most 10 lower-case letters and digits, the first a letter: rules that
// don't accept them are a mistake of the adapter, and a spec of your own that breaks the
// rules fails before its object is created.
type NameRules struct {
	// Max is the greatest length. Zero: 63.
	Max int `yaml:"max"`
	// Pattern is a regular expression that the whole name matches. Empty: any DNS label.
	Pattern string `yaml:"pattern"`
}

// Accept returns nil for a name that follows the rules, and otherwise says which it breaks.
func (r NameRules) Accept(name string) error {
	longest := r.Max
	if longest == 0 {
		longest = defaultNameMax
	}
	if len(name) > longest {
		return fmt.Errorf("the name %s has %d characters, and the adapter's `names` accepts at most %d", name, len(name), longest)
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

// Object is an API object: in YAML either the object itself or the path of the
// file that holds it.
type Object struct {
	File   string
	Inline map[string]any
}

// KnownFailure is a spec that the provider fails, for now.
type KnownFailure struct {
	// Spec is the spec's ID, such as "nodeclaim/deleted".
	Spec string `yaml:"spec"`
	// Releases is a constraint on the release of Karpenter core that the provider
	// links, such as ">=1.6.0 <=1.15.0", naming those in which it was seen.
	Releases string `yaml:"releases"`
	// Issue is the address of the upstream issue.
	Issue string `yaml:"issue"`
	// Reason is the failure in a sentence.
	Reason string `yaml:"reason"`
	// Breaks lists what the failure breaks, at least one. Each entry is the name of an
	// invariant, or a regular expression over the other things that break, as reports say
	// them: "always at most 3 NodeClaims", "waited for 2 ", "left behind: Node ". Whatever
	// else breaks fails the spec.
	Breaks []string `yaml:"breaks"`
}

// Covers tells whether a release, such as v1.15.0, is one of those that a constraint
// such as ">=1.6.0 <=1.15.0" names. One that is no version, such as a branch, is not.
// The error is that of a constraint that is none.
func Covers(releases, release string) (bool, error) {
	constraint, err := semver.NewConstraint(releases)
	if err != nil {
		return false, fmt.Errorf("%q is not a constraint such as \">=1.6.0 <=1.15.0\": %w", releases, err)
	}
	v, err := semver.NewVersion(release)
	return err == nil && constraint.Check(v), nil
}

// Simulator plays the provider's cloud: an HTTP server in a pod beside the controller, which
// is started before it and outlives its restarts. Where it listens is {{.Simulator}} in all
// templates of the controller. It may create, change and delete nodes; see Rights.
type Simulator struct {
	// Image is the reference of a ready image; a template. Either this or Build.
	Image string `yaml:"image"`
	// Build makes the image from Go source.
	Build *Build `yaml:"build"`
	// Args of its entrypoint; templates.
	Args []string `yaml:"args"`
	// Port is the preferred one; where pods share the host's ports it becomes a free one.
	Port int `yaml:"port"`
	// Ready is the HTTP path that answers 200 once it serves.
	Ready string `yaml:"ready"`
	// Unknown is the HTTP path that answers a JSON list of what it was asked for and doesn't
	// know; the end of a run tells. Optional.
	Unknown string `yaml:"unknown"`
	// Rights are rules of RBAC for what else it does to the cluster.
	Rights []map[string]any `yaml:"rights"`
}

const (
	defaultNamespace = "kube-system"
	defaultRelease   = "karpenter"
	defaultTimeout   = 60 * time.Second
	defaultNameMax   = 63

	defaultClusterName = "plumbline"

	// Plumbline, as the module of a Build, is this one.
	Plumbline = "$plumbline"
)

func (c *Controller) namespace() string { return cmp.Or(c.Namespace, defaultNamespace) }

// ReleaseName is the name under which the chart is rendered.
func (c *Chart) ReleaseName() string { return cmp.Or(c.Release, defaultRelease) }

// Within is how long the controller may take to become ready.
func (r Ready) Within() time.Duration { return cmp.Or(r.Timeout, defaultTimeout) }
