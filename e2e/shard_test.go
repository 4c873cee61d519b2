package e2e

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers"
)

func TestShardsFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		shard, index, shards string
		want                 Shard
		wrong                string
	}{
		{"", "", "", Shard{}, ""},
		{"2/4", "", "", Shard{2, 4}, ""},
		{"1/1", "", "", Shard{1, 1}, ""},
		{"", "3", "8", Shard{4, 8}, ""},
		{"2/4", "3", "8", Shard{2, 4}, ""}, // what people say comes first
		{"", "3", "", Shard{}, ""},         // a Job of somebody else's
		{"5/4", "", "", Shard{}, "SHARD=5/4: say which part of how many, such as 2/4"},
		{"0/4", "", "", Shard{}, "SHARD=0/4"},
		{"2", "", "", Shard{}, "SHARD=2"},
		{"2/4x", "", "", Shard{}, "SHARD=2/4x"},
		{"", "8", "8", Shard{}, "SHARD=9/8"},
		{"", "x", "8", Shard{}, "JOB_COMPLETION_INDEX=x"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("SHARD", c.shard)
			t.Setenv("JOB_COMPLETION_INDEX", c.index)
			t.Setenv("SHARDS", c.shards)
			s, err := ShardFromEnv()
			if c.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s).To(Equal(c.want))
		})
	}
}

func measured() *Suite {
	suite := NewSuite("drift")
	suite.Measured = map[string]time.Duration{}
	for i, seconds := range []int{9, 1, 8, 2, 7, 3} {
		id := fmt.Sprintf("drift/%d", i)
		suite.add(Spec{Name: id, Run: nothing}, "", id)
		suite.Measured[id] = time.Duration(seconds) * time.Second
	}
	return suite
}

// The longest specs are dealt first, each to the part that has least to do, and the same everywhere.
func TestSpecsAreDealtByTheirTime(t *testing.T) {
	g := NewWithT(t)
	kwok, suites := &providers.Adapter{Name: "kwok"}, []*Suite{measured()}
	var hashes []string
	var all []string
	for part := 1; part <= 2; part++ {
		d, specs, err := Config{Shard: Shard{part, 2}}.deal(kwok, suites)
		g.Expect(err).NotTo(HaveOccurred())
		hashes = append(hashes, d.hash())
		g.Expect(d.Whole).To(BeFalse(), "it is no catalogue")
		g.Expect(specs).To(HaveLen(len(d.Parts[part-1])))
		for i, s := range specs {
			g.Expect(s.spec.id).To(Equal(d.Parts[part-1][i]))
			all = append(all, s.spec.id)
		}
	}
	g.Expect(hashes[0]).To(Equal(hashes[1]))
	g.Expect(all).To(Equal([]string{"drift/0", "drift/5", "drift/3", "drift/1", "drift/2", "drift/4"}))

	other := measured()
	other.Measured["drift/1"] = time.Minute
	d, _, err := Config{Shard: Shard{1, 2}}.deal(kwok, []*Suite{other})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.hash()).NotTo(Equal(hashes[0]))

	_, _, err = Config{Shard: Shard{1, 7}}.deal(kwok, suites)
	g.Expect(err).To(MatchError(ContainSubstring("only 6 specs are selected")))
	_, whole, err := Config{}.deal(kwok, suites)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(whole).To(HaveLen(6))
}
