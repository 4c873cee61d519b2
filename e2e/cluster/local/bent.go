package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// bentPrograms returns programs that run those given by a clock: scripts in the
// cluster's folder, since kwokctl takes the path of a program and no more. A
// program is told the name under which it was started, which says whose it is.
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
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(program)), []byte(script), 0o700); err != nil { //nolint:gosec // it's a program
			return programs{}, err
		}
	}
	return programs{kubernetes: dir, etcd: dir, kwok: dir}, nil
}
