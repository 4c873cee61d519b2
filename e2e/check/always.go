package check

import (
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Always checks that a claim is true at every moment: at the start and after every event. It
// is vacuous unless some moment exercised the claim.
func Always(c Claim) Check { return always{c} }

// Never checks that a claim is true at no moment. It is vacuous unless some moment exercised
// it.
func Never(c Claim) Check { return never{c} }

type always struct{ claim Claim }

func (a always) String() string { return "always " + a.claim.String() }

func (a always) Judge(h *history.History) Finding { return judgeAlways(a, a.claim, h) }

type never struct{ claim Claim }

func (n never) String() string { return "never " + n.claim.String() }

func (n never) Judge(h *history.History) Finding { return judgeAlways(n, Untrue(n.claim), h) }

func judgeAlways(check Check, claim Claim, h *history.History) Finding {
	j, tested := judgement{check, h}, 0
	for at, w := range moments(h, claim.Reads()) {
		ok, exercised := claim.Holds(w)
		if !ok {
			return j.broken(at, tested, claim.String(), claim.Standing(w))
		}
		tested += count(exercised)
	}
	return j.verdict(tested, "at no moment could anything have broken it")
}

// Sometimes checks that a claim is true at some moment: the case of the spec did happen. It is
// never vacuous.
func Sometimes(c Claim) Check { return sometimes{c} }

type sometimes struct{ claim Claim }

func (s sometimes) String() string { return "at some moment " + s.claim.String() }

func (s sometimes) Judge(h *history.History) Finding {
	j := judgement{s, h}
	for _, w := range moments(h, s.claim.Reads()) {
		if ok, _ := s.claim.Holds(w); ok {
			return j.verdict(1, "")
		}
	}
	return j.unlessAnyGap(j.neverTrue(s.claim, 0))
}

// Finally checks that a claim is true at the end. It is vacuous unless the end exercises it.
func Finally(c Claim) Check { return finally{c} }

type finally struct{ claim Claim }

func (f finally) String() string { return "in the end " + f.claim.String() }

func (f finally) Judge(h *history.History) Finding {
	j, w := judgement{f, h}, h.End()
	ok, exercised := f.claim.Holds(w)
	if !ok {
		return j.unlessAnyGap(j.broken(-1, 0, f.claim.String()+", in the end", f.claim.Standing(w)))
	}
	return j.verdict(count(exercised), "nothing at the end could have broken it")
}

// Until checks that a is true until b becomes true, and that b does become true. At that
// moment a may already be false. It is vacuous unless a was exercised before.
func Until(a, b Claim) Check { return until{a, b} }

type until struct{ a, b Claim }

func (u until) String() string { return fmt.Sprintf("%s until %s", u.a, u.b) }

func (u until) Judge(h *history.History) Finding {
	j, tested := judgement{u, h}, 0
	for at, w := range moments(h, readsOf(u.a, u.b)) {
		if over, _ := u.b.Holds(w); over {
			return j.verdict(tested, fmt.Sprintf("before %s nothing could have broken it", u.b))
		}
		ok, exercised := u.a.Holds(w)
		if !ok {
			return j.unlessGap(j.broken(at, tested, fmt.Sprintf("%s, before %s", u.a, u.b), u.a.Standing(w)))
		}
		tested += count(exercised)
	}
	return j.unlessAnyGap(j.neverTrue(u.b, tested))
}
