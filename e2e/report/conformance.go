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

// Conformance is the content of conformance.yaml: what a run proves of a provider. A
// certification should require Complete and Green, and may require speed 1.
type Conformance struct {
	Provider string    `json:"provider"`
	Version  string    `json:"version,omitempty"` // of the provider's source module
	Started  time.Time `json:"started"`
	Took     string    `json:"took"` // in real time
	// Clusters are the kinds of cluster that specs ran on.
	Clusters []Cluster       `json:"clusters"`
	Gates    map[string]bool `json:"gates,omitempty"`
	// Complete says that no selection left out specs.
	Complete bool            `json:"complete"`
	Green    bool            `json:"green"`
	Counts   map[Verdict]int `json:"counts"`
	// NotReached is how many specs had not ended when the run did.
	NotReached int     `json:"notReached,omitempty"`
	Specs      []Proof `json:"specs"`
}

// Proof is the verdict on a spec.
type Proof struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"` // the sentence, without the provider's name
	Verdict Verdict `json:"verdict"`
	Tested  int     `json:"tested"` // how often its claims were tested
	Reason  string  `json:"reason,omitempty"`
	Issue   string  `json:"issue,omitempty"`
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
			Reason: firstLine(o.Reason), Issue: o.Issue,
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
func (c *Conformance) Write(file string) error {
	data, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
