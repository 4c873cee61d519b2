package compare_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/compare"
	"github.com/plumbline-e2e/plumbline/e2e/measure"
	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
)

func TestCells(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                                 {},
		"KARPENTER=v1.13.0":                {"KARPENTER": "v1.13.0"},
		"KARPENTER=v1.13.0,PROVIDER=aws":   {"KARPENTER": "v1.13.0", "PROVIDER": "aws"},
		"GATES=A=true,B=false K8S=1.35":    {"GATES": "A=true,B=false", "K8S": "1.35"},
		"IMAGE=r.example/k:1, K8S=1.36":    {"IMAGE": "r.example/k:1", "K8S": "1.36"},
		"SETTINGS=BATCH_IDLE_DURATION=5s;": {"SETTINGS": "BATCH_IDLE_DURATION=5s;"},
	} {
		g := NewWithT(t)
		c, err := compare.ParseCell("A", text)
		g.Expect(err).NotTo(HaveOccurred(), text)
		g.Expect(c.Variables).To(Equal(want), text)
		g.Expect(c.Environment()).NotTo(HaveKey("SETTINGS"), text)
	}
}

func TestBadCellsSayWhatIsWrong(t *testing.T) {
	for text, says := range map[string]string{
		"v1.13.0":                         "it should begin with a variable and its value",
		"KARPENTR=v1.13.0":                "it should begin with a variable and its value",
		"x KARPENTER=v1.13.0":             "it should begin with a variable and its value",
		"KARPENTER=v1 KARPENTER=v2":       "KARPENTER is set twice",
		"KARPENTER=v1.13.0 SPEED=3":       `"v1.13.0 SPEED=3" is no value of KARPENTER`,
		"SETTINGS=batch=5s":               `"batch=5s" is not a variable of the controller`,
		"SETTINGS=BATCH_IDLE_DURATION;A=": `"BATCH_IDLE_DURATION" is not a variable of the controller`,
	} {
		_, err := compare.ParseCell("A", text)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(says)), text)
	}
}

func TestBounds(t *testing.T) {
	g := NewWithT(t)
	bounds, err := compare.ParseBounds("cost>1.05, disruptions.underutilized<0.5")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bounds).To(Equal([]compare.Bound{{"cost", true, 1.05}, {"disruptions.underutilized", false, 0.5}}))
	_, err = compare.ParseBounds("costs>1.05 nodes=2 cpu>many")
	g.Expect(err).To(MatchError(And(
		ContainSubstring(`no figure "costs"`), ContainSubstring(`"nodes=2" is not a figure`), ContainSubstring(`"cpu>many"`),
	)))
}

func row(a, b []float64) compare.Row { return compare.NewRow(measure.Description{Name: "cost"}, a, b) }

func TestAFigureDiffersOutsideOfItsNoise(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want compare.Verdict
	}{
		"far":              {[]float64{10, 11, 10}, []float64{20, 21, 22}, compare.Differs},
		"within the noise": {[]float64{10, 14, 12}, []float64{15, 15.5, 16}, compare.Same},
		"mixed":            {[]float64{10, 11, 10}, []float64{20, 21, 10.5}, compare.Same},
		"the same":         {[]float64{5, 5, 5}, []float64{5, 5, 5}, compare.Same},
		"from nothing":     {[]float64{0, 0, 0}, []float64{3, 4, 5}, compare.Differs},
		"to nothing":       {[]float64{3, 4, 5}, []float64{0, 0, 0}, compare.Differs},
		"nothing":          {[]float64{0, 0, 0}, []float64{0, 0, 0}, compare.Same},
		"hardly":           {[]float64{100, 100, 100}, []float64{101, 101, 101}, compare.Same},
		"one run":          {[]float64{10}, []float64{20}, compare.Unknown},
		"no such figure":   {nil, []float64{20, 20, 20}, compare.Unknown},
	} {
		NewWithT(t).Expect(row(c.a, c.b).Verdict).To(Equal(c.want), name)
	}
}

// What doc.go says of figures that are the same.
func TestFewFiguresDifferByChance(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(1, 2))
	three := func() []float64 {
		values := make([]float64, 3)
		for i := range values {
			values[i] = math.Exp(0.1 * random.NormFloat64())
		}
		return values
	}
	const all = 20000
	differ := 0
	for range all {
		if row(three(), three()).Verdict == compare.Differs {
			differ++
		}
	}
	g.Expect(float64(differ) / all).To(BeNumerically("~", 0.005, 0.002))
}

func comparison() *compare.Comparison {
	c := &compare.Comparison{
		Workload: "week", Seed: 1, Length: 7 * 24 * time.Hour, Repeats: 2, Took: time.Minute,
		Cells: []compare.Cell{{Name: "A", Text: "KARPENTER=v1.13.0"}, {Name: "B", Text: "KARPENTER=v1.14.0 <b>"}},
	}
	for i, cost := range []float64{1, 1.01, 2, 2.02} {
		c.Runs = append(c.Runs, compare.Run{
			Cell: []string{"A", "A", "B", "B"}[i], Number: i%2 + 1,
			Result: measure.Result{
				Figures: map[string]float64{"cost": cost, "nodes": 10 + float64(i%2)},
				Nodes:   []chart.Point{{At: 0, Value: 10}, {At: 84, Value: 20}, {At: 168, Value: 5}},
			},
		})
	}
	c.Runs[2].Figures["disruptions.empty"] = 3
	c.Compare()
	return c
}

func TestBoundsAreJudgedBeyondTheNoise(t *testing.T) {
	g := NewWithT(t)
	c := comparison()
	bounds, err := compare.ParseBounds("cost>1.05 nodes>0.99 launches>2")
	g.Expect(err).NotTo(HaveOccurred())
	err = c.Judge(bounds)
	g.Expect(err).To(MatchError(And(
		ContainSubstring("cost>1.05: the ratio is 2.00, with a noise of 0.99 to 1.01"),
		ContainSubstring("launches>2: there is no ratio of this figure"),
	)))
	g.Expect(c.Notes).To(ConsistOf(ContainSubstring("nodes>0.99: the ratio is 1.00, but within the noise")))
}

func TestThePageHasAllFiguresAndCurves(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	c := comparison()
	g.Expect(c.WritePage(&b)).To(Succeed())
	text := b.String()
	g.Expect(text).To(ContainSubstring("B: KARPENTER=v1.14.0 &lt;b&gt;"))
	g.Expect(strings.Count(text, "<tr class=")).To(Equal(len(c.Rows)))
	g.Expect(text).To(ContainSubstring(`<tr class="differs" data-figure="cost">`))
	g.Expect(text).To(ContainSubstring(`<tr class="same" data-figure="nodes">`))
	g.Expect(strings.Count(text, "<path ")).To(Equal(4), "one line for each run")
	g.Expect(text).To(ContainSubstring(`d="M46.0 `))
	g.Expect(text).NotTo(MatchRegexp(`(src|href)="https?:`), "it needs no network")
	g.Expect(text).NotTo(ContainSubstring("NaN"))
}

func TestTheJSONHasTheRows(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	g.Expect(comparison().WriteJSON(&b)).To(Succeed())
	var read compare.Comparison
	g.Expect(json.Unmarshal(b.Bytes(), &read)).To(Succeed())
	g.Expect(read.Row("cost").Verdict).To(Equal(compare.Differs))
	g.Expect(read.Row("disruptions.empty").A).To(Equal([]float64{0, 0}), "not counted is zero")
}

func TestTheTableMarksWhatDiffers(t *testing.T) {
	NewWithT(t).Expect(comparison().Table()).To(MatchRegexp(`price of all nodes.* 2\.\d+ .*differs`))
}
