package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxLinks bounds the symbolic links on a path, as in Linux's path_resolution(7).
const maxLinks = 40

// clean makes a name in an archive relative to the root. ".." can't lead above the root.
func clean(name string) string {
	if rel := strings.TrimPrefix(path.Clean("/"+name), "/"); rel != "" {
		return rel
	}
	return "."
}

// Resolve follows the symbolic links of a path with root as the root of the file system,
// absolute links too, which an os.Root refuses. Missing elements stay as they are. The result
// is relative to root, without links. Use it to write into an unpacked image.
func Resolve(root *os.Root, name string) (string, error) {
	done, links := ".", 0
	for todo := clean(name); todo != ""; {
		part, rest, _ := strings.Cut(todo, "/")
		todo = rest
		switch part {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		info, err := root.Lstat(next)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: more than %d symbolic links", name, maxLinks)
		}
		target, err := root.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			done = "."
		}
		todo = target + "/" + rest
	}
	return done, nil
}
