package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// bentPrograms returns programs that run the given ones with a bent clock. They are scripts in
// the cluster's folder, because kwokctl takes only a path. They pass their own name on as the
// program's name, which shows whose process it is.
func bentPrograms(f *owned.Folder, bin programs, c *clock.Clock) (programs, error) {
	dir := f.Path("bent")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return programs{}, err
	}
	for _, program := range []string{
		filepath.Join(bin.etcd, "etcd"),
		filepath.Join(bin.kubernetes, apiserver),
		filepath.Join(bin.kubernetes, controllerManager),
		filepath.Join(bin.kubernetes, scheduler),
		filepath.Join(bin.kwok, "kwok"),
	} {
		script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", strings.Join(c.Command(`"$0"`, program), " "))
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(program)), []byte(script),
			0o700); err != nil { //nolint:gosec // it's a program
			return programs{}, err
		}
	}
	return programs{kubernetes: dir, etcd: dir, kwok: dir}, nil
}
