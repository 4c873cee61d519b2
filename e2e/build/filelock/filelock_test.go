package filelock_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

func TestALockExcludesOthersUntilItIsReleased(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "some", "folder", "lock")
	first, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred())

	_, err = filelock.Try(path)
	g.Expect(err).To(MatchError(filelock.ErrHeld))

	first.Release()
	second, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred())
	second.Release()
}

func TestWaitTellsOnceThatItWaitsAndGetsTheLock(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred())

	told := 0
	second, err := filelock.Wait(t.Context(), path, func() {
		told++
		time.AfterFunc(200*time.Millisecond, first.Release)
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(told).To(Equal(1))
	second.Release()
}

func TestWaitEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer first.Release()

	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = filelock.Wait(ctx, path, func() { cancel(why) })
	g.Expect(err).To(MatchError(why))
}

// The holder of a lock may remove its file. A waiter that locks the removed file holds
// nothing.
func TestALockOnAFileThatWasRemovedIsNone(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred())

	second, err := filelock.Wait(t.Context(), path, func() {
		g.Expect(os.Remove(path)).To(Succeed())
		first.Release()
	})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = filelock.Try(path)
	g.Expect(err).To(MatchError(filelock.ErrHeld), "the second lock must be on the file that is there")
	second.Release()
}

func TestChildrenDoNotInheritALock(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred())

	child := exec.CommandContext(t.Context(), "sleep", "60")
	g.Expect(child.Start()).To(Succeed())
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	first.Release()
	again, err := filelock.Try(path)
	g.Expect(err).NotTo(HaveOccurred(), "the child must not hold it on")
	again.Release()
}
