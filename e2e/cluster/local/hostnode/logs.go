package hostnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lastLines and lastBytes bound the log lines and bytes in a container's termination message.
// The kubelet has the same limit of bytes.
const (
	lastLines = 20
	lastBytes = 2048
)

// logFile returns the file for a container's output, over all its restarts.
func logFile(dir, namespace, pod, container string) string {
	return filepath.Join(dir, namespace+"_"+pod+"_"+container+".log")
}

// PodLog returns the output of the pod's containers so far, restarts included, in the order of
// the manifest. It also works for a pod that is gone. The caller closes it.
func (n *Node) PodLog(ctx context.Context, namespace, pod string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("log of pod %s/%s: %w", namespace, pod, err)
	}
	var log podLog
	for _, name := range n.logFiles(namespace, pod) {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) { // it has not run yet
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("log of pod %s/%s: %w", namespace, pod, err), log.Close())
		}
		log.files = append(log.files, f)
	}
	if len(log.files) == 0 {
		return nil, fmt.Errorf("log of pod %s/%s: no container of it has run on node %s", namespace, pod, Name)
	}
	readers := make([]io.Reader, len(log.files))
	for i, f := range log.files {
		readers[i] = f
	}
	log.Reader = io.MultiReader(readers...)
	return &log, nil
}

func (n *Node) logFiles(namespace, pod string) []string {
	var files []string
	for _, c := range n.containersOf(namespace, pod) {
		files = append(files, c.logFile)
	}
	if len(files) == 0 {
		files, _ = filepath.Glob(logFile(n.options.Logs, namespace, pod, "*")) // the pattern is well formed
	}
	return files
}

type podLog struct {
	io.Reader
	files []*os.File
}

// Close closes the files.
func (l *podLog) Close() error {
	var errs []error
	for _, f := range l.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// terminationMessage returns a process's termination message: its message file, or after a
// failure the last lines of its log. offset is where its log begins.
func (c *container) terminationMessage(cmd *command, code int, offset int64) string {
	if name := c.spec.TerminationMessagePath; name != "" && cmd.box.own {
		if root, err := os.OpenRoot(cmd.box.dir); err == nil {
			defer func() { _ = root.Close() }()
			if f, err := root.Open(strings.TrimPrefix(name, "/")); err == nil {
				defer func() { _ = f.Close() }()
				if data, err := io.ReadAll(io.LimitReader(f, 2*lastBytes)); err == nil && len(data) > 0 {
					return string(data)
				}
			}
		}
	}
	if code == 0 {
		return ""
	}
	return tail(c.logFile, offset, lastLines)
}

// tail returns the last lines of a file after an offset in bytes; "" if it can't be read.
func tail(name string, offset int64, lines int) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	offset = max(offset, info.Size()-lastBytes)
	data, err := io.ReadAll(io.NewSectionReader(f, offset, info.Size()-offset))
	if err != nil {
		return ""
	}
	data = bytes.TrimRight(data, "\n")
	return string(data[startOfLast(data, lines):])
}

// startOfLast returns where the last lines of data begin.
func startOfLast(data []byte, lines int) int {
	at := len(data)
	for range lines {
		at = bytes.LastIndexByte(data[:at], '\n')
		if at < 0 {
			return 0
		}
	}
	return at + 1
}
