package report

import (
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

// Cluster is what specs ran on, as found, not as requested.
type Cluster struct {
	Backend    string `json:"backend"`             // such as local
	Kubernetes string `json:"kubernetes"`          // what the API server says
	NodeImage  string `json:"nodeImage,omitempty"` // of kind's node, with its ID
	Karpenter  string `json:"karpenter"`           // release of Karpenter core that the provider links
	Image      string `json:"image,omitempty"`     // digest of the provider's image; empty: it is a program of the host
	Speed      string `json:"speed"`               // of its clock: auto, or a number; 1 is the machine's clock
}

// Controller says what the provider's controller was made of.
type Controller struct {
	Image  string `json:"image,omitempty"`  // the reference, with its digest in the registry; empty: it was built
	Source string `json:"source,omitempty"` // module@version and the package that it was built from, or a folder
	// Released says that it is as published: an image that a registry has, or built from the
	// release of a module. False: a folder, a commit or an image of this machine, in whatever state.
	Released bool `json:"released"`
}

// Upgrade says what specs have upgraded a provider to.
type Upgrade struct {
	Version   string `json:"version,omitempty"`   // of the source module
	Karpenter string `json:"karpenter,omitempty"` // release of Karpenter core; empty: unknown
	Adapter   string `json:"adapter,omitempty"`   // as Conformance.Adapter
	// Controller is what ran of it.
	Controller Controller `json:"controller"`
}

// Format is the format of the conformance.yaml that runs write. It grows with each field that
// readers rely on.
const Format = 1

// Conformance is the content of conformance.yaml: what a run proves of a provider. A
// certification should require Complete and Green, and may require speed 1.
type Conformance struct {
	// Format is that of the file. 0: from before it was counted; Plumbline, Adapter and
	// Controller are missing then.
	Format    int    `json:"format"`
	Plumbline string `json:"plumbline,omitempty"` // version of the harness and its suites; empty: unknown
	Provider  string `json:"provider"`
	Version   string `json:"version,omitempty"` // of the provider's source module
	// To is what specs have upgraded the provider to; nil: nothing.
	To      *Upgrade  `json:"to,omitempty"`
	Adapter string    `json:"adapter,omitempty"` // a built-in one's path, or the name of a file; empty: written in Go
	Started time.Time `json:"started"`
	Took    string    `json:"took"` // in real time
	// Controller is what runs of the provider.
	Controller Controller `json:"controller"`
	// Clusters are the kinds of cluster that specs ran on.
	Clusters []Cluster       `json:"clusters"`
	Gates    map[string]bool `json:"gates,omitempty"`
	// Complete says that the run had the whole catalogue, and no selection left out specs.
	Complete  bool   `json:"complete"`
	Selection string `json:"selection,omitempty"` // such as FOCUS=^drift/; empty: none
	// Part says which part of a run this is, if several machines share it; nil: it is the whole, or all parts merged.
	Part   *Part           `json:"part,omitempty"`
	Green  bool            `json:"green"`
	Counts map[Verdict]int `json:"counts"`
	// NotReached is how many specs had not ended when the run did.
	NotReached int     `json:"notReached,omitempty"`
	Specs      []Proof `json:"specs"`
}

// Part is a part of a run that several machines share.
type Part struct {
	Number int    `json:"number"` // from 1
	Of     int    `json:"of"`
	Deal   string `json:"deal"` // the SHA-256 of which specs each part has: the same for all of a run
}

// Proof is the verdict on a spec.
type Proof struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"` // the sentence, without the provider's name
	Verdict Verdict `json:"verdict"`
	Tested  int     `json:"tested"` // how often its claims were tested
	Reason  string  `json:"reason,omitempty"`
	Issue   string  `json:"issue,omitempty"`
	// Retried is why it was infra the first time, and ran again. Empty: it ran once.
	Retried string `json:"retried,omitempty"`
}

// Add adds the outcomes of specs.
func (c *Conformance) Add(outcomes []Outcome) {
	if c.Counts == nil {
		c.Counts = map[Verdict]int{}
	}
	for _, o := range outcomes {
		c.Counts[o.Verdict]++
		c.Specs = append(c.Specs, Proof{
			ID: o.ID, Name: o.Suite + " " + o.Spec, Verdict: o.Verdict, Tested: Tested(o.Claims),
			Reason: firstLine(o.Reason), Issue: o.Issue, Retried: firstLine(o.Retried),
		})
	}
}

// ReadConformance reads what Write wrote.
func ReadConformance(file string) (c Conformance, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// Write writes the file.
func (c Conformance) Write(file string) error {
	data, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
