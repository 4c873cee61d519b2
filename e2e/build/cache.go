package build

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

// Cache is a folder of built programs. Several goroutines and processes may use it at once.
type Cache struct {
	Dir      string       // absolute
	Progress func(string) // gets a line when a build starts, and every 10 s; may be nil

	said answers // see Seal
}

// Open returns the user's cache: $PLUMBLINE_CACHE, or the folder plumbline in
// [os.UserCacheDir]. It creates the folder, which no other user can read. Progress may be nil.
func Open(progress func(string)) (*Cache, error) {
	dir := os.Getenv("PLUMBLINE_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no place for the cache: %w; set PLUMBLINE_CACHE to a folder", err)
		}
		dir = filepath.Join(user, "plumbline")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache folder: %w; set PLUMBLINE_CACHE to a folder that can be written", err)
	}
	return &Cache{Dir: dir, Progress: progress}, nil
}

// task is how to make an entry of the cache.
type task struct {
	name   string                                      // the entry's readable name; the key makes it unique
	key    []string                                    // all inputs
	origin string                                      // an input that can change, such as a folder; or empty
	what   string                                      // what is being built, such as "etcd v3.6.16"
	cost   string                                      // time, such as "about 20 s"; may be empty
	needs  string                                      // disk space, such as "2 GB"
	makes  []string                                    // the files of the finished entry
	create func(ctx context.Context, dir string) error // makes them in dir; dir/tmp is for temporary files
}

// ensure returns the entry's folder, and makes it if it is missing.
func (c *Cache) ensure(ctx context.Context, t task) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(t.key, "\x00")))
	dir := filepath.Join(c.Dir, "build", fmt.Sprintf("%s-%x", t.name, sum[:6]))
	waiting := func() { c.progress(fmt.Sprintf("waiting for another run that is building %s", t.what)) }
	if complete(dir, t.makes) {
		if t.origin == "" {
			return dir, nil
		}
		waiting = nil // the holder only checks, too
	}
	lock, err := filelock.Wait(ctx, dir+".lock", waiting)
	if err != nil {
		return "", t.explain(ctx, c.Dir, err)
	}
	defer lock.Release()
	if !complete(dir, t.makes) {
		if err := c.create(ctx, t, dir); err != nil {
			return "", t.explain(ctx, c.Dir, err)
		}
	}
	if t.origin != "" {
		if err := c.prune(dir, t.origin); err != nil {
			c.progress(fmt.Sprintf("old builds stay in the cache: %v", err))
		}
	}
	return dir, nil
}

// create makes the entry in a ".partial" folder and renames it when it is finished. First it
// removes the rest of an earlier attempt: the caller's lock means that no process uses it.
func (c *Cache) create(ctx context.Context, t task, dir string) (err error) {
	partial := dir + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.RemoveAll(dir)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	if err := os.MkdirAll(filepath.Join(partial, "tmp"), 0o700); err != nil {
		return err
	}

	start := time.Now()
	stop := c.report(t, start)
	err = t.create(ctx, partial)
	stop()
	if err != nil {
		return err
	}
	if !complete(partial, t.makes) {
		return fmt.Errorf("the build ended well but didn't make all of %s", strings.Join(t.makes, ", "))
	}
	if err := os.RemoveAll(filepath.Join(partial, "tmp")); err != nil {
		return err
	}
	if err := os.Rename(partial, dir); err != nil {
		return err
	}
	c.progress(fmt.Sprintf("built %s in %s", t.what, time.Since(start).Round(time.Second)))
	return nil
}

// complete reports whether all files of the entry exist.
func complete(dir string, files []string) bool {
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f))
		if err != nil || info.Mode()&fs.ModeType != 0 || info.Size() == 0 {
			return false
		}
	}
	return true
}

// report reports the task's progress at once, and every ten seconds until stop is called.
func (c *Cache) report(t task, start time.Time) (stop func()) {
	line := fmt.Sprintf("building %s from source (first time only", t.what)
	if t.cost != "" {
		line += ", " + t.cost
	}
	line += ")"
	c.progress(line)

	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				c.progress(fmt.Sprintf("%s ... %s", line, time.Since(start).Round(time.Second)))
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (c *Cache) progress(line string) {
	if c.Progress != nil {
		c.Progress(line)
	}
}
