package local

import (
	"os"
	"path/filepath"

	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

// bentPrograms returns programs that run the given ones with a bent clock. They are files in
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
		bent := launch.Command{Words: c.Command(launch.Self, program)}
		if err := bent.Write(filepath.Join(dir, filepath.Base(program)), bin.starter); err != nil {
			return programs{}, err
		}
	}
	return programs{kubernetes: dir, etcd: dir, kwok: dir, starter: bin.starter}, nil
}
