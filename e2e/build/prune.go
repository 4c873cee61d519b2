package build

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

const (
	// replacedKept is longer than a run, since a run may still use a replaced build.
	replacedKept = 24 * time.Hour
	unusedKept   = 30 * 24 * time.Hour

	// originFile holds an entry's origin. Its modification time is the entry's last use.
	originFile = "origin"
)

// ImageOf returns the folder for the image of an entry's program. remove removes both.
func (c *Cache) ImageOf(entry string) string {
	return filepath.Join(c.Dir, "images", filepath.Base(entry))
}

// prune marks an entry as used and removes old ones: of the same origin after a day without
// use, of others after 30 days. Entries without an origin stay.
func (c *Cache) prune(entry, origin string) error {
	marker := filepath.Join(entry, originFile)
	if err := os.WriteFile(marker, []byte(origin), 0o600); err != nil {
		return err
	}
	// The file system's time is right; this process may use a cluster's clock.
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
			continue // without an origin, or another run is removing it
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

// remove removes an entry and its image, unless another run holds its lock.
func (c *Cache) remove(entry string) error {
	lock, err := filelock.Try(entry + ".lock")
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	partial := entry + ".partial" // so that a half-removed entry doesn't look complete
	if err := os.Rename(entry, partial); err != nil {
		return err
	}
	var failed error
	for _, path := range []string{partial, c.ImageOf(entry), c.ImageOf(entry) + ".lock", entry + ".lock"} {
		failed = errors.Join(failed, os.RemoveAll(path))
	}
	return failed
}
