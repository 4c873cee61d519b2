package spread

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// userID is the user of the pods' processes.
const userID = 65532

// container is the name of the pods' only one.
const container = "part"

// Paths in the image.
const (
	home    = "plumbline" // the working directory, in which adapters have the paths that they had here
	Program = "/" + home + "/bin/plumbline"
	Tests   = "/" + home + "/bin/conformance.test"
	sealed  = "/" + home + "/cache"
)

// Content is what an image is made of.
type Content struct {
	Program string         // this program for Linux, static
	Tests   string         // the compiled suites, likewise
	Caches  []*build.Cache // what they were asked for is what the image has
	Folders []string       // of adapters, relative to the working directory
}

// Image writes the image of the parts' pods as an OCI layout, and returns its reference. The same content always
// gives the same digest. What is the same for all providers is a layer of its own, which is pushed and pulled once.
func Image(ctx context.Context, dir, arch string, c Content) (ref string, err error) {
	files, content, err := build.Seal(c.Caches...)
	if err != nil {
		return "", err
	}
	common := image.Layer{Compressed: true, Files: map[string]image.File{
		"tmp/":       {},
		"work/":      {}, // a volume in pods; elsewhere it will do as it is
		"etc/passwd": {Content: fmt.Appendf(nil, "plumbline:x:%[1]d:%[1]d::%[2]s:\n", userID, workFolder)},
	}}
	for _, certificates := range certificateFiles {
		if _, err := os.Stat(certificates); err == nil {
			common.Files["etc/ssl/certs/ca-certificates.crt"] = image.File{Path: certificates}
			break
		}
	}
	own := image.Layer{Compressed: true, Files: map[string]image.File{
		strings.TrimPrefix(Program, "/"): {Path: c.Program, Program: true},
		strings.TrimPrefix(Tests, "/"):   {Path: c.Tests, Program: true},
	}}
	for name, from := range files {
		info, err := os.Stat(from)
		if err != nil {
			return "", err
		}
		to := own
		if strings.HasPrefix(name, build.PinnedPrefix) {
			to = common
		}
		to.Files[path.Join(home, "cache", name)] = image.File{Path: from, Program: info.Mode()&0o100 != 0}
	}
	for name, text := range content {
		own.Files[path.Join(home, "cache", name)] = image.File{Content: text}
	}
	for _, folder := range c.Folders {
		if err := addFolder(own.Files, folder); err != nil {
			return "", err
		}
	}
	return image.FromFiles(ctx, dir, arch, v1.Config{
		Entrypoint: []string{Program}, User: fmt.Sprint(userID), WorkingDir: "/" + home,
		Env: []string{
			"HOME=" + workFolder, "TMPDIR=" + tmpFolder, "PLUMBLINE_CACHE=" + workFolder + "/cache",
			build.SealedVariable + "=" + sealed, "ARTIFACTS=" + artifactsFolder,
		},
	}, common, own)
}

// certificateFiles are where systems keep the certificates of authorities. The pods ask registries for digests.
var certificateFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
}

// addFolder adds the files of an adapter's folder, at the same place below the image's working directory. Go code is
// built already.
func addFolder(files map[string]image.File, folder string) error {
	if !filepath.IsLocal(folder) {
		return fmt.Errorf("%s: adapters must lie below the working directory, since they get the same place in the image",
			folder)
	}
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(file) == ".go" {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files[path.Join(home, filepath.ToSlash(file))] = image.File{Path: file, Program: info.Mode()&0o100 != 0}
		return nil
	})
}
