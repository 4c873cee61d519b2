package spread

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

// exec runs a command in a part's pod, and writes its output to out.
func (r *Run) exec(ctx context.Context, pod *corev1.Pod, out io.Writer, command ...string) error {
	request := r.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).
		SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: container, Command: command, Stdout: true, Stderr: true,
	}, scheme.ParameterCodec)
	sockets, err := remotecommand.NewWebSocketExecutor(r.config, "GET", request.URL().String())
	if err != nil {
		return err
	}
	older, err := remotecommand.NewSPDYExecutor(r.config, "POST", request.URL())
	if err != nil {
		return err
	}
	executor, err := remotecommand.NewFallbackExecutor(sockets, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	var complaints bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: out, Stderr: &complaints}); err != nil {
		return errors.Join(err, errors.New(strings.TrimSpace(complaints.String())))
	}
	return nil
}

// copyArtifacts copies the artifacts of a part's pod into a folder, which is there only once it is complete. It returns
// how many bytes came.
func (r *Run) copyArtifacts(ctx context.Context, pod *corev1.Pod, folder string) (size int64, err error) {
	partial := folder + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.RemoveAll(folder)); err != nil {
		return 0, err
	}
	archive, to := io.Pipe()
	counted := &counter{Writer: to}
	go func() { to.CloseWithError(r.exec(ctx, pod, counted, Program, "part", "-artifacts")) }()
	if err := unpack(archive, partial); err != nil {
		archive.CloseWithError(err)
		return 0, err
	}
	return counted.size, os.Rename(partial, folder)
}

// counter counts what is written.
type counter struct {
	io.Writer
	size int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.size += int64(n)
	return n, err
}

// pack writes the files below a folder as a compressed tar archive. Links are left out.
func pack(w io.Writer, folder string) error {
	compressed := gzip.NewWriter(w)
	archive := tar.NewWriter(compressed)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Size: info.Size(), ModTime: info.ModTime(), Mode: 0o644,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.CopyN(archive, in, info.Size())
		return err
	})
	return errors.Join(err, archive.Close(), compressed.Close())
}

// unpack writes the files of such an archive into a new folder. A cut-off archive is an error.
func unpack(r io.Reader, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	compressed, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	archive := tar.NewReader(compressed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, compressed) // to its checksum
			return err
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(header.Name) {
			return fmt.Errorf("the archive has a file %q, outside its folder", header.Name)
		}
		if err := unpackFile(archive, filepath.Join(folder, filepath.FromSlash(header.Name))); err != nil {
			return err
		}
	}
}

func unpackFile(r io.Reader, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, r)
	return err
}
