package e2e

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Known is a failure that is known upstream.
type Known struct {
	// Releases is a constraint on the Karpenter release, such as ">=1.6.0 <=1.15.0". It names
	// releases in which the failure was seen.
	Releases string
	// Issue is the URL of the upstream issue.
	Issue string
	// Reason describes the failure in a sentence.
	Reason string
	// Breaks lists what the failure breaks, at least one entry: the name of an invariant, or its
	// name, a colon and a regular expression for what doesn't hold; or a regular expression for
	// other broken things, as reports name them: "always at most 3 NodeClaims", "waited for 2 ",
	// "left behind: Node ". Anything else that breaks fails the spec.
	Breaks []string
	// Sometimes says that the failure depends on chance, so a pass proves nothing.
	Sometimes bool
	// Explored is a regular expression. A sequence that `make explore` makes up fails for the same reason if its YAML
	// matches, and if it breaks nothing but what Breaks lists. Empty: none does.
	Explored string
}

// Finding returns the address of a section of suites/findings.md, for Known.Issue.
func Finding(section string) string {
	return "https://github.com/plumbline-e2e/plumbline/blob/main/suites/findings.md#" + section
}

// check returns an error if a known failure is incomplete or wrong.
func (k Known) check() error {
	if k.Issue == "" || k.Reason == "" || len(k.Breaks) == 0 {
		return errors.New("a known failure says its Issue, its Reason, and what it Breaks")
	}
	_, err := providers.Covers(k.Releases, "")
	_, err2 := regexp.Compile(k.Explored)
	err = errors.Join(err, err2)
	for _, what := range k.Breaks {
		_, err2 := regexp.Compile(what)
		err = errors.Join(err, err2, excusesNothing(what))
	}
	return err
}

// excusesNothing returns an error if an entry of Known.Breaks is like the name of an invariant, and not its name.
func excusesNothing(what string) (err error) {
	like, invalid := regexp.Compile(what) // what is no expression is said to be so elsewhere
	for _, i := range invariant.All() {
		if what == i.Name || strings.HasPrefix(what, i.Name+": ") {
			return nil
		}
		if invalid == nil && like.MatchString(i.Name) {
			err = fmt.Errorf("%q excuses no invariant; write its name: %q", what, i.Name)
		}
	}
	return err
}

// excuses reports whether something broke, and all of it is known.
func (k *Known) excuses(broke []report.Broken) bool {
	return k != nil && len(broke) > 0 && len(k.unexcused(broke)) == 0
}

// unexcused returns what broke and is not known.
func (k *Known) unexcused(broke []report.Broken) []report.Broken {
	return slices.DeleteFunc(slices.Clone(broke), func(b report.Broken) bool {
		return slices.ContainsFunc(k.Breaks, func(what string) bool { return names(what, b) })
	})
}

// said returns what broke, on one line.
func said(broke []report.Broken) string {
	var parts []string
	left := 0
	for _, b := range broke {
		if b.Kind == report.BrokenCleanUp {
			left++
			continue
		}
		parts = append(parts, b.What)
	}
	if left > 0 {
		parts = append(parts, check.Words(left, "objects")+" left behind")
	}
	return strings.Join(parts, "; ")
}

// names reports whether an entry of Known.Breaks matches what broke.
func names(what string, b report.Broken) bool {
	broke := b.What
	if b.Kind == report.BrokenInvariant {
		why, says := strings.CutPrefix(what, b.What+": ")
		if !says {
			return what == b.What
		}
		what, broke = why, b.Why
	}
	matches, err := regexp.MatchString(what, broke)
	return err == nil && matches
}

// knownFor returns the entry that covers a release, or nil. No entry covers a release that is
// not a version, such as a branch build.
func (s *Spec) knownFor(release string) (*Known, error) {
	for i, k := range s.Known {
		covered, err := providers.Covers(k.Releases, release)
		if err != nil {
			return nil, fmt.Errorf("spec %s, known failure %s: %w", s.id, k.Issue, err)
		}
		if covered {
			return &s.Known[i], nil
		}
	}
	return nil, nil //nolint:nilnil // no entry
}

// knownFailure returns the known failure of a spec in a release, or nil: the adapter's, which says what this provider
// breaks, or else the spec's own.
func knownFailure(spec *Spec, a *providers.Adapter, release string) (*Known, error) {
	for _, k := range a.KnownFailures {
		covered, err := providers.Covers(k.Releases, release)
		if err != nil {
			return nil, fmt.Errorf("adapter, known failure %s: %w", k.Issue, err)
		}
		if covered && k.Spec == spec.id {
			return ofAdapter(k), nil
		}
	}
	return spec.knownFor(release)
}

func ofAdapter(k providers.KnownFailure) *Known {
	return &Known{
		Releases: k.Releases, Issue: k.Issue, Reason: k.Reason, Breaks: k.Breaks, Sometimes: k.Sometimes,
		Explored: k.Explored,
	}
}

// knownExplored returns what is known of sequences like one that breaks something, in a release; nil: nothing. Several
// known failures are joined. It returns the sequence without the actions that make it like any, too: what a known panic
// of the controller breaks beside is left to that.
func knownExplored(
	suites []*Suite, a *providers.Adapter, s explore.Sequence, release string, broke []report.Broken,
) (known *Known, unknown explore.Sequence, err error) {
	unknown = s
	for _, suite := range suites {
		for _, spec := range suite.specs {
			k, err := knownFailure(spec, a, release)
			if err != nil {
				return nil, s, err
			}
			if k == nil || k.Explored == "" {
				continue
			}
			like := regexp.MustCompile(k.Explored)
			if !s.Like(like) {
				continue
			}
			unknown = unknown.Unlike(like)
			if len(k.unexcused(broke)) == len(broke) { // it is about something else
				continue
			}
			if known == nil {
				known = &Known{}
			}
			if !slices.Contains(strings.Fields(known.Issue), k.Issue) { // several specs may show one
				known.Issue = strings.TrimSpace(known.Issue + " " + k.Issue)
				known.Reason = strings.TrimPrefix(known.Reason+"; "+k.Reason, "; ")
			}
			known.Breaks = append(known.Breaks, k.Breaks...)
		}
	}
	if known.excusesDeath(broke) {
		known.Breaks = append(known.Breaks, named(broke)...)
	}
	return known, unknown, nil
}

// excusesDeath reports whether the controller ended by itself, and it is known why. Whatever else breaks may have
// waited for it in vain, so nothing can be said of that.
func (k *Known) excusesDeath(broke []report.Broken) bool {
	return k != nil && slices.ContainsFunc(broke, func(b report.Broken) bool {
		return b.Kind == report.BrokenInvariant && b.What == invariant.ControllerStaysUp &&
			k.excuses([]report.Broken{b})
	})
}

// named returns entries of Known.Breaks for all that broke, and nothing else.
func named(broke []report.Broken) (all []string) {
	for _, b := range broke {
		if b.Kind == report.BrokenInvariant {
			all = append(all, b.What)
		} else {
			all = append(all, regexp.QuoteMeta(b.What))
		}
	}
	return all
}

// settle applies a known failure to an outcome.
func settle(o *report.Outcome, known *Known) {
	switch {
	case known == nil:
	case o.Verdict == report.Failed && known.excuses(o.Broke):
		o.Verdict, o.Issue = report.Known, known.Issue
		o.Reason = fmt.Sprintf("%s (%s)", known.Reason, known.Issue)
	case o.Verdict == report.Failed:
		settleBeside(o, known)
	case o.Verdict == report.Passed && !known.Sometimes:
		o.Note = strings.TrimSpace(fmt.Sprintf(
			"%s passed although %s says that this release fails it: the entry may be out of date",
			o.Note, known.Issue))
	}
}

// settleBeside separates what is known of a failure from what else broke.
func settleBeside(o *report.Outcome, known *Known) {
	others := known.unexcused(o.Broke)
	if len(others) == len(o.Broke) {
		o.Note = strings.TrimSpace(fmt.Sprintf("%s this release has another known failure here: %s (%s)", o.Note,
			known.Reason, known.Issue))
		return
	}
	o.Detail = strings.TrimSpace(o.Reason + "\n" + o.Detail)
	o.Reason = fmt.Sprintf("broken beside what is known: %s; known is that %s (%s)", said(others), known.Reason,
		known.Issue)
}

// unknownKnownFailures returns an error for each of the adapter's known failures that names no
// spec, although its folder is one of the suites', or that can excuse nothing.
func unknownKnownFailures(a *providers.Adapter, suites []*Suite) error {
	var mistakes []error
	for i, k := range a.KnownFailures {
		_, err := Find(suites, k.Spec)
		ours := slices.ContainsFunc(suites, func(s *Suite) bool {
			return slices.ContainsFunc(s.specs, func(spec *Spec) bool {
				return !spec.struck && folder(spec.id) == folder(k.Spec)
			})
		})
		if ours && err != nil {
			mistakes = append(mistakes, fmt.Errorf("the adapter's knownFailures[%d].spec: %w", i, err))
		}
		for n, what := range k.Breaks {
			if err := excusesNothing(what); err != nil {
				mistakes = append(mistakes, fmt.Errorf("the adapter's knownFailures[%d].breaks[%d]: %w", i, n, err))
			}
		}
	}
	return errors.Join(mistakes...)
}
