package owned_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// Runs begin and end concurrently. Each first looks for what dead runs left.
func TestFoldersAreClaimedRemovedAndReapedSideBySide(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	noneIsDead := func(_ context.Context, f *owned.Folder) error { return fmt.Errorf("%s was taken for dead", f.Name) }

	var runs errgroup.Group
	for run := range 3 {
		runs.Go(func() error {
			for round := range 10 {
				if _, err := owned.Reap(t.Context(), root, noneIsDead); err != nil {
					return err
				}
				f, err := owned.Acquire(t.Context(), root, fmt.Sprintf("run-%d-%d", run, round))
				if err != nil {
					return err
				}
				for n := range 300 { // so that removal takes several steps
					if err := os.WriteFile(f.Path(fmt.Sprint(n)), nil, 0o600); err != nil {
						return err
					}
				}
				if err := f.Remove(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Expect(runs.Wait()).To(Succeed())
	g.Expect(os.ReadDir(root)).To(ConsistOf(HaveField("Name()", ".lock")))
}

func TestAFolderIsRemovedAlsoWhenItsRunIsBeingEnded(t *testing.T) {
	g := NewWithT(t)
	f, err := owned.Acquire(t.Context(), t.TempDir(), "one")
	g.Expect(err).NotTo(HaveOccurred())
	ended, end := context.WithCancel(t.Context())
	end()
	g.Expect(f.Remove(ended)).To(Succeed())
	g.Expect(f.Dir).NotTo(BeADirectory())
}
