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

// Cache is a folder of built programs. It may be used by several goroutines,
// and by several processes, at once.
type Cache struct {
	Dir      string       // where everything is kept; absolute
	Progress func(string) // told what is being built, and every ten seconds that it still is; may be nil
}

// Open returns the cache of this user: $PLUMBLINE_CACHE, or the folder
// plumbline in [os.UserCacheDir]. It makes the folder, readable by nobody else.
// Progress may be nil.
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

// task is one entry of the cache and how it comes to be.
type task struct {
	name   string                                      // of the entry, for people; the key makes it unique
	key    []string                                    // all that goes in
	origin string                                      // names what changes while its name stays, such as a folder; empty: nothing does
	what   string                                      // what is being built, such as "etcd v3.6.16"
	cost   string                                      // how long that takes, such as "about 20 s"; may be empty
	needs  string                                      // the room that it takes on the disk, such as "2 GB"
	makes  []string                                    // the files of the finished entry
	create func(ctx context.Context, dir string) error // makes them in dir; room for its own needs is dir/tmp
}

// ensure returns the folder of the entry, which is made if it isn't there.
func (c *Cache) ensure(ctx context.Context, t task) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(t.key, "\x00")))
	dir := filepath.Join(c.Dir, "build", fmt.Sprintf("%s-%x", t.name, sum[:6]))
	waiting := func() { c.say(fmt.Sprintf("waiting for another run that is building %s", t.what)) }
	if complete(dir, t.makes) {
		if t.origin == "" {
			return dir, nil
		}
		waiting = nil // whoever has the lock only looks, too
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
			c.say(fmt.Sprintf("old builds stay in the cache: %v", err))
		}
	}
	return dir, nil
}

// create makes the entry beside its place and moves it there when it's
// finished. Whatever an earlier attempt left is removed first: the lock that
// the caller holds says that nobody works on it.
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
	c.say(fmt.Sprintf("built %s in %s", t.what, time.Since(start).Round(time.Second)))
	return nil
}

// complete tells whether all files of the entry are there.
func complete(dir string, files []string) bool {
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f))
		if err != nil || info.Mode()&fs.ModeType != 0 || info.Size() == 0 {
			return false
		}
	}
	return true
}

// report tells at once, and then every ten seconds until stop is called, that
// the task is being worked on.
func (c *Cache) report(t task, start time.Time) (stop func()) {
	line := fmt.Sprintf("building %s from source (first time only", t.what)
	if t.cost != "" {
		line += ", " + t.cost
	}
	line += ")"
	c.say(line)

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
				c.say(fmt.Sprintf("%s ... %s", line, time.Since(start).Round(time.Second)))
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (c *Cache) say(line string) {
	if c.Progress != nil {
		c.Progress(line)
	}
}
