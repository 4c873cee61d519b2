package local

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

const (
	tailLines = 20
	// tailBytes bounds what is read of a log's end. klog's lines rarely exceed 2 kB.
	tailBytes = 64 << 10
)

// lastLines returns up to n lines that show how a log's program ended, or the read error.
func lastLines(path string, n int) []string {
	text, err := readEnd(path)
	if err != nil {
		return []string{fmt.Sprintf("(no log: %v)", err)}
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return []string{fmt.Sprintf("(%s is empty)", path)}
	}
	return cluster.LastWords(strings.Split(text, "\n"), n)
}

func readEnd(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // a log of ours
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	skip := max(0, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, skip, info.Size()-skip))
	if err != nil {
		return "", err
	}
	if skip > 0 { // probably inside a line
		_, after, _ := strings.Cut(string(text), "\n")
		return after, nil
	}
	return string(text), nil
}
