package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// explored says what an exploration was, for a run that goes on with it and for those that join its parts.
type explored struct {
	Provider string        `json:"provider"`
	Release  string        `json:"release,omitempty"`
	Folder   string        `json:"folder"`         // where it was, for the paths of recordings
	Took     time.Duration `json:"took"`           // in all its runs
	Ended    bool          `json:"ended"`          // its time was over, or somebody interrupted it
	Part     *report.Part  `json:"part,omitempty"` // nil: the whole
}

// exploredFile is its file in the folder of an exploration.
const exploredFile = "explored.json"

// writeExplored writes what the exploration is, and whether it has ended.
func (x *exploration) writeExplored(ended bool) error {
	return writeJSON(filepath.Join(x.folder, exploredFile), x.explored(ended))
}

// before returns what the exploration that goes on was; the zero value if it doesn't say.
func (x *exploration) before() (e explored, err error) {
	if err := readJSON(filepath.Join(x.folder, exploredFile), &e); err != nil && !errors.Is(err, os.ErrNotExist) {
		return e, err
	}
	return e, nil
}

func (x *exploration) explored(ended bool) explored {
	e := explored{Provider: x.provider, Release: x.release(), Folder: x.folder, Took: x.took(), Ended: ended}
	if !x.Shard.Whole() {
		e.Part = &report.Part{Number: x.Shard.Part, Of: x.Shard.Of, Deal: fmt.Sprintf("SEED=%d", x.seed)}
	}
	return e
}

// mergeExplorations joins the parts of an exploration. Recordings stay where they are.
func mergeExplorations(artifacts string, parts []foundPart[explored]) error {
	x, missing, err := joinExplorations(parts)
	if err != nil {
		return err
	}
	if x.folder, err = e2e.NewRunFolder(filepath.Join(artifacts, "explore")); err != nil {
		return err
	}
	var lines []byte
	for _, p := range x.played {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	//nolint:gosec // artifacts are for everybody
	err = errors.Join(os.WriteFile(filepath.Join(x.folder, playedFile), lines, 0o644), x.writeDomain())
	err = errors.Join(err, x.adoptLearnt(parts))
	for _, f := range x.found {
		err = errors.Join(err, x.adopt(f))
	}
	if err != nil {
		return err
	}
	return errors.Join(missing, x.conclude())
}

// joinExplorations returns what all parts have played and found, and which parts are missing. The error says why they
// are not of one exploration.
func joinExplorations(parts []foundPart[explored]) (x *exploration, missing, err error) {
	missing, err = checkParts(parts)
	first, seeds := parts[0], map[int]bool{}
	x = &exploration{
		Config: e2e.Config{Release: first.said.Release}, provider: first.said.Provider, seen: map[string]bool{},
		features: map[string]bool{}, histories: map[string]bool{}, began: time.Now(),
	}
	for _, p := range parts {
		if p.said.Provider != first.said.Provider || p.said.Release != first.said.Release {
			err = errors.Join(err, fmt.Errorf("%s and %s are of different providers or releases: %s %s and %s %s", first.name(),
				p.name(), first.said.Provider, first.said.Release, p.said.Provider, p.said.Release))
		}
		part := &exploration{
			folder: p.folder, seen: map[string]bool{}, features: map[string]bool{}, histories: map[string]bool{},
		}
		err = errors.Join(err, part.readDomain(), part.readPlayed(), part.readFound())
		if !p.said.Ended {
			missing = errors.Join(missing, fmt.Errorf("%s broke off after %s", p.name(),
				check.Words(len(part.played), "sequences")))
		}
		for _, played := range part.played {
			if !seeds[played.Seed] { // they may all go on with the same exploration
				x.judged(played)
			}
			seeds[played.Seed] = true
		}
		for _, f := range part.found {
			if below, moved := strings.CutPrefix(f.Outcome.History, p.said.Folder); moved {
				f.Outcome.History = p.folder + below
			}
			x.join(f)
		}
		x.earlier, x.domain = max(x.earlier, p.said.Took), part.domain
	}
	slices.SortFunc(x.found, func(a, b *found) int { return cmp.Compare(slices.Min(a.Seeds), slices.Min(b.Seeds)) })
	for i, f := range x.found {
		slices.Sort(f.Seeds)
		f.Seeds, f.Number = slices.Compact(f.Seeds), i+1
	}
	return x, missing, err
}

// join adds what a part has found. Of what several have found, it keeps what broke again, by the fewest actions.
func (x *exploration) join(f *found) {
	i := slices.IndexFunc(x.found, func(other *found) bool {
		return other.Signature == f.Signature && (other.Shortest.Has(f.Shortest) || f.Shortest.Has(other.Shortest))
	})
	if i < 0 {
		x.found = append(x.found, f)
		return
	}
	known := x.found[i]
	seeds := slices.Concat(known.Seeds, f.Seeds)
	if cmp.Or(cmp.Compare(min(1, known.Again), min(1, f.Again)),
		cmp.Compare(len(f.Shortest.Actions), len(known.Shortest.Actions))) < 0 {
		x.found[i] = f
	}
	x.found[i].Seeds = seeds
}

// adopt copies what a part has found into the folder of the whole.
func (x *exploration) adopt(f *found) error {
	folder := x.folderOf(f)
	if err := os.CopyFS(folder, os.DirFS(f.folder)); err != nil {
		return err
	}
	if kept := filepath.Join(folder, recordingFile); isFile(kept) {
		f.Outcome.History = kept
	}
	return f.describe(folder)
}

// adoptLearnt copies the recording that showed the domain, for a run that goes on: see ServeEnvironment.
func (x *exploration) adoptLearnt(parts []foundPart[explored]) error {
	for _, p := range parts {
		data, err := os.ReadFile(filepath.Join(p.folder, learntFile))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			//nolint:gosec // artifacts are for everybody
			err = os.WriteFile(filepath.Join(x.folder, learntFile), data, 0o644)
		}
		return err
	}
	return nil
}
