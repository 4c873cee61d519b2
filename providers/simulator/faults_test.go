package simulator

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// faults returns faults of these, with a seed.
func faults(t *testing.T, seed uint64, some ...Fault) *Faults {
	t.Helper()
	f := NewBase(t.Context(), nil, Times{}, seed).Faults
	for _, fault := range some {
		NewWithT(t).Expect(f.Add(fault)).To(Succeed())
	}
	return f
}

func TestFaultsStrikeTheCallsTheyAreAbout(t *testing.T) {
	g := NewWithT(t)
	f := faults(t, 1, Fault{Kind: Throttle, Call: "ec2:CreateFleet", Count: 2})
	g.Expect(f.Call("ec2:DescribeImages")).To(BeZero())
	for range 2 {
		g.Expect(f.Call("ec2:CreateFleet")).To(Equal(Effect{Refused: Throttle}))
	}
	g.Expect(f.Call("ec2:CreateFleet")).To(BeZero(), "it was to strike twice")
	g.Expect(f.Report()).To(HaveExactElements(HaveField("Struck", 2)),
		"what has struck is told until the faults are cleared")

	f = faults(t, 1, Fault{Kind: Denied, Call: "CreateFleet"}, Fault{Kind: Slow, By: time.Second},
		Fault{Kind: Lost, Count: 1}, Fault{Kind: Silent, Call: "other"}, Fault{Kind: NoCapacity},
		Fault{Kind: Stale, By: time.Hour})
	g.Expect(f.Call("ec2:CreateFleet")).To(Equal(Effect{Refused: Denied, Delay: time.Second, Lost: true}),
		"the part after the colon is enough")
	g.Expect(f.Call("other")).To(Equal(Effect{Delay: time.Second, Silent: true}))
	g.Expect(f.Stale()).To(Equal(time.Hour))
	f.Clear()
	g.Expect(f.Call("other")).To(BeZero())
	g.Expect(f.Stale()).To(BeZero())
}

func TestAFaultSparesTheFirstCalls(t *testing.T) {
	g := NewWithT(t)
	f := faults(t, 1, Fault{Kind: Lost, Call: "vm", Skip: 1, Count: 2})
	var lost []bool
	for range 5 {
		g.Expect(f.Call("disk")).To(BeZero(), "it counts only what it is about")
		lost = append(lost, f.Call("vm").Lost)
	}
	g.Expect(lost).To(Equal([]bool{false, true, true, false, false}))
}

func TestAFaultOfLaunchesStrikesTheCallsThatTheCloudNames(t *testing.T) {
	g := NewWithT(t)
	b := NewBase(t.Context(), nil, Times{}, 1)
	g.Expect(b.Faults.Add(Fault{Kind: Lost, Call: "launch"})).To(MatchError(ContainSubstring("Cloud.Launches")))
	b.Handler(Cloud{Handler: http.NotFoundHandler(), Launches: []string{"PUT vm", "PUT pool"}})
	g.Expect(b.Faults.Add(Fault{Kind: Lost, Call: "launch", Count: 2})).To(Succeed())
	for _, call := range []string{"PUT vm", "PUT pool"} {
		g.Expect(b.Faults.Call("GET vm")).To(BeZero())
		g.Expect(b.Faults.Call(call)).To(Equal(Effect{Lost: true}))
	}
	g.Expect(b.Faults.Call("PUT vm")).To(BeZero())
}

func TestAFaultOfNoCallThatThereIsIsAMistake(t *testing.T) {
	g := NewWithT(t)
	f := faults(t, 1, Fault{Kind: Throttle, Call: "anything"}) // nobody says which there are
	f.Know("ec2:DescribeInstances", "ec2:CreateFleet")
	f.Know("ec2:CreateFleet")
	g.Expect(f.Add(Fault{Kind: Throttle, Call: "DescribeInstance"})).To(MatchError(
		`fault throttle: there is no call "DescribeInstance"; there are ec2:CreateFleet, ec2:DescribeInstances`))
	for _, call := range []string{"", "DescribeInstances", "ec2:CreateFleet"} {
		g.Expect(f.Add(Fault{Kind: Throttle, Call: call})).To(Succeed(), call)
	}
	g.Expect(f.Add(Fault{Kind: NoCapacity})).To(Succeed(), "it is about no call")
}

func TestARateIsKeptAndRepeatable(t *testing.T) {
	g := NewWithT(t)
	strikes := func(seed uint64) (all []int) {
		f := faults(t, seed, Fault{Kind: Denied, Rate: 0.25})
		for n := range 1000 {
			if f.Call("x").Refused != "" {
				all = append(all, n)
			}
		}
		return all
	}
	g.Expect(len(strikes(1))).To(BeNumerically("~", 250, 50))
	g.Expect(strikes(1)).To(Equal(strikes(1)))
	g.Expect(strikes(1)).NotTo(Equal(strikes(2)))
}

func TestAShortageIsOfAnOffering(t *testing.T) {
	g := NewWithT(t)
	f := faults(t, 1, Fault{Kind: NoCapacity, Offering: Offering{Type: "t", Zone: "z", CapacityType: "spot"}})
	g.Expect(f.Shortage(Offering{"t", "z", "spot"})).To(BeTrue())
	for _, other := range []Offering{{"u", "z", "spot"}, {"t", "y", "spot"}, {"t", "z", "on-demand"}} {
		g.Expect(f.Shortage(other)).To(BeFalse())
	}
	f = faults(t, 1, Fault{Kind: NoCapacity, Count: 1})
	first, second := f.Shortages(), f.Shortages()
	g.Expect([]bool{first(Offering{}), first(Offering{Zone: "z"}), second(Offering{})}).
		To(Equal([]bool{true, true, false}), "a fault counts once for a request")
}

func TestAShortageStrikesAllAttemptsOfALaunchOnce(t *testing.T) {
	g, f := NewWithT(t), faults(t, 1)
	g.Expect(f.Add(Fault{Kind: NoCapacity, Count: 1})).To(Succeed())
	a, b := Offering{Zone: "a"}, Offering{Zone: "b"}
	g.Expect([]bool{f.ShortageFor("x", a), f.ShortageFor("x", b), f.ShortageFor("y", a), f.ShortageFor("x", a)}).
		To(Equal([]bool{true, true, false, false}), "both offerings of the first attempt, and nothing else")
}

func TestFaultsThatCanNotBeMeant(t *testing.T) {
	for wrong, fault := range map[string]Fault{
		"there is no fault kind=rain; there are noCapacity, throttle": {Kind: "rain"},
		"fault slow: by is missing: a duration such as by=3s":         {Kind: Slow},
		"fault failedYetDone: by is missing":                          {Kind: FailedYetDone},
		"fault lost: by is only for slow, stale, failedYetDone":       {Kind: Lost, By: time.Second},
		"fault slow: by can't be negative":                            {Kind: Slow, By: -time.Second},
		"fault lost: count can't be negative":                         {Kind: Lost, Count: -1},
		"fault lost: rate lies between 0 and 1":                       {Kind: Lost, Rate: 2},
		"fault stale: it lasts until it is cleared":                   {Kind: Stale, By: time.Second, Count: 1},
		"fault noCapacity: it is not about calls":                     {Kind: NoCapacity, Call: "x"},
		"fault noCapacity: it is not about calls, so skip":            {Kind: NoCapacity, Skip: 1},
		"fault lost: skip can't be negative":                          {Kind: Lost, Skip: -1},
		"fault lost: type, zone and capacity are only for noCapacity": {Kind: Lost, Offering: Offering{Zone: "z"}},
		`fault noCapacity: there is no capacity "sopt"; there are on-demand, spot, reserved`: {
			Kind: NoCapacity, Offering: Offering{CapacityType: "sopt"},
		},
		"count can't be negative; 0 means until the faults are cleared\nfault lost: rate": {Kind: Lost, Count: -1, Rate: 2},
	} {
		f := faults(t, 1)
		NewWithT(t).Expect(f.Add(fault)).To(MatchError(ContainSubstring(wrong)))
		NewWithT(t).Expect(f.Report()).To(BeEmpty())
	}
}

// play plays an effect on a call, and returns the answer, if any, and when what was carried out with which body.
func play(t *testing.T, e Effect, patience time.Duration) (answer string, took time.Duration, done *[]string) {
	t.Helper()
	done = &[]string{}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("body"))
	start := time.Now()
	defer func() {
		took = time.Since(start)
		if recover() == http.ErrAbortHandler { //nolint:errorlint // that very value, as net/http has it
			answer = "none"
		}
	}()
	e.Play(w, r, func(w http.ResponseWriter, k Kind) { http.Error(w, string(k), http.StatusTeapot) },
		func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			*done = append(*done, time.Since(start).String()+" "+string(body))
			w.Header().Set("Of", "a cloud")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "yes")
		})
	return strings.TrimSpace(w.Header().Get("Of") + " " + http.StatusText(w.Code) + " " + w.Body.String()), took, done
}

func TestACallThatIsHeldStrikesOnceItIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		f := faults(t, 1, Fault{Kind: Held})
		effect := f.Call("x")
		g.Expect(f.Report()).To(HaveExactElements(HaveField("Struck", 0)))
		answer, took, done := play(t, effect, time.Minute)
		g.Expect(answer).To(Equal("none"))
		g.Expect(took).To(Equal(time.Minute))
		g.Expect(*done).To(HaveLen(1))
		g.Expect(f.Report()).To(HaveExactElements(HaveField("Struck", 1)))
	})
}

func TestEffectsArePlayed(t *testing.T) {
	for name, row := range map[string]struct {
		effect Effect
		answer string
		took   time.Duration
		done   []string
	}{
		"none":     {Effect{}, "a cloud Created yes", 0, []string{"0s body"}},
		"slow":     {Effect{Delay: 3 * time.Second}, "a cloud Created yes", 3 * time.Second, []string{"0s body"}},
		"slower":   {Effect{Delay: time.Hour}, "a cloud Created yes", time.Minute, []string{"0s body"}},
		"throttle": {Effect{Refused: Throttle}, "I'm a teapot throttle", 0, []string{}},
		"lost":     {Effect{Lost: true}, "none", 0, []string{"0s body"}},
		"silent":   {Effect{Silent: true}, "none", time.Minute, []string{}},
		"failedYetDone": {
			Effect{Refused: FailedYetDone, Later: 2 * time.Minute}, "I'm a teapot failedYetDone", 0, []string{"2m0s body"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				answer, took, done := play(t, row.effect, time.Minute)
				g.Expect(answer).To(Equal(row.answer))
				g.Expect(took).To(Equal(row.took))
				pass(time.Hour)
				g.Expect(*done).To(Equal(row.done))
			})
		})
	}
}
