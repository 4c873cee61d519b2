package image_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// tree returns a folder's content: files' contents, "->target" for links, "/" for folders.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case e.IsDir():
			all[rel] = "/"
		case e.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			all[rel] = "->" + to
		default:
			data, err := os.ReadFile(path)
			all[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestUnpack(t *testing.T) {
	for what, c := range map[string]struct {
		layers [][]entry
		want   map[string]string
	}{
		"layer over layer": {
			[][]entry{{{name: "a", content: "old"}, {name: "d/"}, {name: "d/b", content: "b"}}, {{name: "./a", content: "new"}}},
			map[string]string{"a": "new", "d": "/", "d/b": "b"},
		},
		"whiteout": {
			[][]entry{{
				{name: "d/"},
				{name: "d/a", content: "a"},
				{name: "d/b", content: "b"},
				{name: "gone/"},
				{name: "gone/x", content: "x"},
			}, {{name: "d/.wh.a"}, {name: ".wh.gone"}}},
			map[string]string{"d": "/", "d/b": "b"},
		},
		"opaque, behind what the layer brings": {
			[][]entry{
				{{name: "d/"}, {name: "d/old", content: "o"}, {name: "d/sub/"}, {name: "d/sub/old", content: "o"}},
				{{name: "d/new", content: "n"}, {name: "d/sub/new", content: "n"}, {name: "d/.wh..wh..opq"}},
			},
			map[string]string{"d": "/", "d/new": "n", "d/sub": "/", "d/sub/new": "n"},
		},
		"a file becomes a folder, a folder a file": {
			[][]entry{
				{{name: "a", content: "a"}, {name: "b/"}, {name: "b/x", content: "x"}},
				{{name: "a/"}, {name: "a/y", content: "y"}, {name: "b", content: "b"}},
			},
			map[string]string{"a": "/", "a/y": "y", "b": "b"},
		},
		"through links, also absolute ones, as in the image": {
			[][]entry{
				{{name: "run/"}, {name: "var/"}, {name: "var/run", symlink: "/run"}, {name: "lib", symlink: "usr/lib"}},
				{{name: "var/run/pid", content: "1"}, {name: "lib/so", content: "so"}},
			},
			map[string]string{
				"run": "/", "run/pid": "1", "var": "/", "var/run": "->/run", "lib": "->usr/lib", "usr": "/",
				"usr/lib": "/", "usr/lib/so": "so",
			},
		},
		"hard link": {
			[][]entry{{{name: "a", content: "a"}, {name: "b", hardlink: "/a"}}},
			map[string]string{"a": "a", "b": "a"},
		},
		"hard link, whose target a later layer replaces": {
			[][]entry{{{name: "a", content: "old"}, {name: "b", hardlink: "a"}}, {{name: "a", content: "new"}}},
			map[string]string{"a": "new", "b": "old"},
		},
		"nothing leads out": {
			[][]entry{{
				{name: "../../up", content: "u"},
				{name: "/root", content: "r"},
				{name: "out", symlink: "../../../../.."},
				{name: "out/etc/x", content: "x"},
				{name: "abs", symlink: "/../../tmp"},
				{name: "abs/y", content: "y"},
			}},
			map[string]string{
				"up": "u", "root": "r", "out": "->../../../../..", "etc": "/", "etc/x": "x", "abs": "->/../../tmp",
				"tmp": "/", "tmp/y": "y",
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			g := NewWithT(t)
			outer := t.TempDir()
			dir := filepath.Join(outer, "root")
			g.Expect(image.Unpack(t.Context(), made(t, "amd64", c.layers...), dir)).To(Succeed())
			g.Expect(tree(t, dir)).To(Equal(c.want))
			g.Expect(filepath.Glob(filepath.Join(outer, "*"))).To(Equal([]string{dir}), "and nothing beside it")
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		layer []entry
		want  string
	}{
		"a hard link to this machine's file": {[]entry{{name: "mine", hardlink: secret}}, "mine"},
		"a loop of links": {[]entry{
			{name: "a", symlink: "b"},
			{name: "b", symlink: "a"},
			{name: "a/x", content: "x"},
		}, "more than 40 symbolic links"},
		"a whiteout of the parent": {[]entry{{name: "d/"}, {name: "d/.wh..."}}, "is a whiteout of no file"},
	} {
		t.Run(what, func(t *testing.T) {
			err := image.Unpack(t.Context(), made(t, "amd64", c.layer), filepath.Join(t.TempDir(), "root"))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// lying is an image with a layer that doesn't match its config.
type lying struct{ v1.Image }

func (l lying) Layers() ([]v1.Layer, error) {
	layers, err := l.Image.Layers()
	if err != nil {
		return nil, err
	}
	return []v1.Layer{changed{layers[0]}}, nil
}

type changed struct{ v1.Layer }

func (changed) DiffID() (v1.Hash, error) {
	return v1.NewHash("sha256:0000000000000000000000000000000000000000000000000000000000000000")
}

func TestUnpackVerifiesContent(t *testing.T) {
	err := image.Unpack(t.Context(), lying{hello(t, "amd64")}, filepath.Join(t.TempDir(), "root"))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("does not match the image config")))
}
