package kind

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// commands sets PATH to a folder with only these scripts.
func commands(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestWhichEngine(t *testing.T) {
	const works, doesnt = "exit 0",
		`echo "Cannot connect to the Docker daemon at unix:///var/run/docker.sock." >&2; exit 1`
	for name, c := range map[string]struct {
		scripts      map[string]string
		chosen, want string
		errs         []string
	}{
		"docker": {
			scripts: map[string]string{"docker": works, "podman": works},
			want:    "docker",
		},
		"podman where asked": {
			scripts: map[string]string{"docker": works, "podman": works},
			chosen:  "podman", want: "podman",
		},
		"podman for want of it": {scripts: map[string]string{"podman": works}, want: "podman"},
		"podman, docker's engine being stopped": {
			scripts: map[string]string{"docker": doesnt, "podman": works},
			want:    "podman",
		},
		"none": {
			errs: []string{"there is no docker and no podman here: install Docker or podman, or say CLUSTER=local"},
		},
		"docker is stopped": {
			scripts: map[string]string{"docker": doesnt},
			errs: []string{
				"docker is installed but doesn't work: Cannot connect to the Docker daemon",
				"systemctl start docker",
			},
		},
		"the one asked for lacks": {
			scripts: map[string]string{"docker": works}, chosen: "podman",
			errs: []string{"there is no podman here"},
		},
		"unknown": {
			chosen: "lxc",
			errs:   []string{"KIND_EXPERIMENTAL_PROVIDER=lxc: known are docker and podman"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			commands(t, c.scripts)
			t.Setenv(engineVariable, c.chosen)
			e, err := findEngine(t.Context())
			if c.errs == nil {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(e.command).To(Equal(c.want))
				return
			}
			for _, want := range c.errs {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
		})
	}
}
