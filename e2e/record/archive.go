package record

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Archive writes the recording in a folder as a tar archive, also while it is being recorded. So it comes out of a
// pod whose image has no tar.
func Archive(w io.Writer, folder string) error {
	if _, err := Read(folder); err != nil {
		return fmt.Errorf("there is no recording in %s: %w", folder, err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		if err := archive(out, filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return out.Close()
}

// archive adds a file, as long as it is at this moment: the recorder may be writing it.
func archive(out *tar.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.CopyN(out, file, info.Size())
	return err
}

// ParseSize returns the bytes of a size such as 4Gi or 500M.
func ParseSize(text string) (int64, error) {
	size, err := resource.ParseQuantity(text)
	if err != nil || size.Value() <= 0 {
		return 0, fmt.Errorf("size %q: it should be like 4Gi or 500M", text)
	}
	return size.Value(), nil
}
