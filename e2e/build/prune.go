package build

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

const (
	// A run may still use a build that was replaced meanwhile, for as long as runs take.
	replacedKept = 24 * time.Hour
	unusedKept   = 30 * 24 * time.Hour

	// originFile holds an entry's origin, and was written when the entry was last used.
	originFile = "origin"
)

// ImageOf is the folder of the image that is made of an entry's program. It goes when the
// entry does.
func (c *Cache) ImageOf(entry string) string {
	return filepath.Join(c.Dir, "images", filepath.Base(entry))
}

// prune notes that an entry is used, and removes those that nobody needs any more: of the
// same origin, not used for a day; of any other, not used for 30 days. Entries without an
// origin stay.
func (c *Cache) prune(entry, origin string) error {
	marker := filepath.Join(entry, originFile)
	if err := os.WriteFile(marker, []byte(origin), 0o600); err != nil {
		return err
	}
	// The file system knows what time it is; this process may live by a cluster's clock.
	used, err := os.Stat(marker)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Dir(entry))
	if err != nil {
		return err
	}
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(entry), e.Name())
		of, err := os.ReadFile(filepath.Join(other, originFile))
		if err != nil {
			continue // it has none, or another run is removing it
		}
		last, err := os.Stat(filepath.Join(other, originFile))
		if err != nil {
			continue
		}
		unused := used.ModTime().Sub(last.ModTime())
		if unused > unusedKept || unused > replacedKept && string(of) == origin {
			if err := c.remove(other); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes an entry and its image, unless another run is about to use it.
func (c *Cache) remove(entry string) error {
	lock, err := filelock.Try(entry + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	partial := entry + ".partial" // half of an entry must not be taken for a whole one
	if err := os.Rename(entry, partial); err != nil {
		return err
	}
	var failed error
	for _, path := range []string{partial, c.ImageOf(entry), c.ImageOf(entry) + ".lock", entry + ".lock"} {
		failed = errors.Join(failed, os.RemoveAll(path))
	}
	return failed
}
