package e2e

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/providers"
)

// Shard is a part of a run that several machines share. The zero value is the whole.
type Shard struct {
	Part int // from 1
	Of   int // how many parts there are
}

// ShardFromEnv reads SHARD, such as 2/4. Without it, it reads what Kubernetes gives to the pods of an Indexed Job,
// JOB_COMPLETION_INDEX from 0, if SHARDS says of how many. Empty: the whole.
func ShardFromEnv() (Shard, error) {
	text := os.Getenv("SHARD")
	if index, of := os.Getenv("JOB_COMPLETION_INDEX"), os.Getenv("SHARDS"); text == "" && index != "" && of != "" {
		n, err := strconv.Atoi(index)
		if err != nil {
			return Shard{}, fmt.Errorf("JOB_COMPLETION_INDEX=%s: not a whole number", index)
		}
		text = fmt.Sprintf("%d/%s", n+1, of)
	}
	if text == "" {
		return Shard{}, nil
	}
	part, of, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(part)
	m, err2 := strconv.Atoi(of)
	if !found || err != nil || err2 != nil || n < 1 || n > m {
		return Shard{}, fmt.Errorf("SHARD=%s: say which part of how many, such as 2/4", text)
	}
	return Shard{n, m}, nil
}

// Whole reports whether there is only one part.
func (s Shard) Whole() bool { return s.Of <= 1 }

// Has reports whether number i of a list that is dealt in turn is in the part.
func (s Shard) Has(i int) bool { return s.Whole() || i%s.Of == s.Part-1 }

func (s Shard) String() string {
	if s.Whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Part, s.Of)
}

// chosen is a spec that the configuration selects.
type chosen struct {
	suite *Suite
	spec  *Spec
}

// choose returns the specs that are selected, of all parts.
func (c Config) choose(a *providers.Adapter, suites []*Suite) (all []chosen) {
	for _, suite := range suites {
		for _, spec := range suite.Specs() {
			if c.selects(a.Name, suite, spec) {
				all = append(all, chosen{suite, spec})
			}
		}
	}
	return all
}

// deal says which specs each part of a run has. All parts of a run have the same deal: it depends on nothing but the
// program and the variables.
type deal struct {
	Whole bool       `json:"whole"` // the parts together have the whole catalogue
	Parts [][]string `json:"parts"` // the specs' IDs
}

// dealFile holds the deal, in the run's folder.
const dealFile = "deal.json"

// dealOut deals specs to a number of parts: the longest first, each to the part that has least to do so far. How long a
// spec takes is what its suite says (Suite.Measured).
func dealOut(all []chosen, parts int) (d deal, dealt [][]chosen) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(b.expected(), a.expected()), cmp.Compare(a.spec.id, b.spec.id))
	})
	dealt, d.Parts = make([][]chosen, parts), make([][]string, parts)
	takes := make([]time.Duration, parts)
	for _, s := range all {
		least := slices.Index(takes, slices.Min(takes))
		dealt[least] = append(dealt[least], s)
		d.Parts[least] = append(d.Parts[least], s.spec.id)
		takes[least] += s.expected()
	}
	return d, dealt
}

// expected returns how long a spec takes, as far as is known everywhere.
func (s chosen) expected() time.Duration {
	if took, known := s.suite.Measured[s.spec.id]; known {
		return took
	}
	return unmeasured
}

// unmeasured is about what a spec takes that nobody has measured, with bent time.
const unmeasured = 10 * time.Second

// hash identifies the deal.
func (d deal) hash() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings can be marshalled
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (d deal) write(run string) error {
	data, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(run, dealFile), data, 0o644)
}

func readDeal(run string) (d deal, err error) {
	data, err := os.ReadFile(filepath.Join(run, dealFile))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("%s: %w", filepath.Join(run, dealFile), err)
	}
	return d, nil
}
