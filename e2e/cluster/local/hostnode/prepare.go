package hostnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/image"
)

// command holds what is needed to run a container's program.
type command struct {
	way   Isolation
	box   sandbox
	image *loaded
	path  string // of the program, as the process sees it
	args  []string
	env   []string
	dir   string // "" for the harness's own
}

// build makes the command that writes to out.
func (c *command) build(out *os.File) *exec.Cmd {
	cmd := &exec.Cmd{Path: c.path, Args: c.args, Env: c.env, Dir: c.dir, Stdout: out, Stderr: out}
	confine(cmd, c.way, c.box.dir, c.box.user)
	return cmd
}

// prepare creates the container's files and returns the command to run.
func (c *container) prepare(ctx context.Context, l *loaded) (*command, error) {
	p, n := c.pod.object(), c.pod.node
	way := n.isolation
	if l.rootfs == "" {
		way = None
	}
	if err := refuseMounts(&c.spec, way); err != nil {
		return nil, &waitError{reasonConfig, err}
	}
	u, err := userOf(p, &c.spec, l)
	if err != nil {
		return nil, &waitError{reasonConfig, err}
	}
	e := c.environment()
	env, err := e.resolve(ctx)
	if err != nil {
		return nil, &waitError{reasonConfig, err}
	}
	box := sandbox{dir: c.rootDir(), own: way != None, user: u}
	if s := c.pod.object().Spec.SecurityContext; s != nil {
		box.fsGroup = s.FSGroup != nil
	}
	if err := c.createRoot(box, l); err != nil {
		return nil, &waitError{reasonCreate, err}
	}
	c.mu.Lock()
	c.box = box
	err = c.mountAll(ctx, box, newVolumes(e, c.pod.tokens, n.rootCA))
	c.mu.Unlock()
	if err != nil {
		return nil, &waitError{reasonConfig, err}
	}
	if err := c.mountKubeconfig(box, env); err != nil {
		return nil, &waitError{reasonCreate, err}
	}
	cmd := &command{
		way: way, box: box, image: l, env: mergeEnv(runtimeEnv(p, l, box), l.config.Env, env),
		dir: workingDir(&c.spec, l),
	}
	cmd.args = commandLine(&c.spec, l, env)
	if err := cmd.findProgram(); err != nil {
		return nil, &waitError{reasonRun, err}
	}
	return cmd, nil
}

func (c *container) environment() environment {
	spec := c.spec
	return environment{client: c.pod.node.client, pod: c.pod.object(), container: &spec, services: c.pod.node.services}
}

// createRoot makes the container's root, or an empty folder if it has no own root.
func (c *container) createRoot(box sandbox, l *loaded) error {
	if err := errors.Join(os.RemoveAll(box.dir), os.MkdirAll(box.dir, 0o755)); err != nil {
		return err
	}
	if !box.own {
		return nil
	}
	if err := copyTree(l.rootfs, box.dir); err != nil {
		return fmt.Errorf("copying the image: %w", err)
	}
	root, err := os.OpenRoot(box.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{"etc/resolv.conf", "etc/hosts"} { // the network is this machine's
		data, err := os.ReadFile("/" + name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		at, err := image.Resolve(root, name)
		if err != nil {
			return err
		}
		if err := box.write(root, path.Dir(at), content{path.Base(at): {data: data, mode: defaultMode}}); err != nil {
			return err
		}
	}
	if at, err := image.Resolve(root, "dev"); err == nil && root.MkdirAll(at, 0o755) == nil {
		makeDevices(filepath.Join(box.dir, at))
	}
	return c.makeWorkingDir(root, workingDir(&c.spec, l))
}

// makeWorkingDir makes the working directory if the image lacks it, as container runtimes do.
func (c *container) makeWorkingDir(root *os.Root, dir string) error {
	at, err := image.Resolve(root, dir)
	if err != nil {
		return err
	}
	return root.MkdirAll(at, 0o755)
}

// mountKubeconfig adds a kubeconfig of the service account, for clients that read KUBECONFIG
// where in-cluster files can't be.
func (c *container) mountKubeconfig(box sandbox, env map[string]string) error {
	if _, own := env["KUBECONFIG"]; own || !hasAccount(&c.spec) {
		return nil
	}
	n := c.pod.node
	data, err := kubeconfig(n.options.APIServer, n.rootCA, c.pod.object().Namespace, box.pathInside(accountDir+"/token"))
	if err != nil {
		return fmt.Errorf("kubeconfig of the service account: %w", err)
	}
	env["KUBECONFIG"] = box.pathInside(kubeconfigPath)
	return box.mount(path.Dir(kubeconfigPath), content{path.Base(kubeconfigPath): {data: data, secret: true}})
}

// commandLine returns the program and its arguments. The manifest's command replaces the
// image's entrypoint and command; its args replace only the command.
func commandLine(c *corev1.Container, l *loaded, env map[string]string) []string {
	program, args := c.Command, c.Args
	if len(program) == 0 {
		program = l.config.Entrypoint
		if len(args) == 0 {
			args = l.config.Cmd
		}
	}
	all := slices.Concat(program, args)
	for i := range all {
		all[i] = expand(all[i], lookupIn(env))
	}
	return all
}

func workingDir(c *corev1.Container, l *loaded) string {
	switch {
	case l.rootfs == "":
		return c.WorkingDir
	case c.WorkingDir != "":
		return c.WorkingDir
	case l.config.WorkingDir != "":
		return l.config.WorkingDir
	default:
		return "/"
	}
}

// findProgram finds the program as execvp(3) would inside the container.
func (c *command) findProgram() error {
	l := c.image
	if len(c.args) == 0 {
		return errors.New("neither the image nor the manifest says what to run")
	}
	name := c.args[0]
	if l.rootfs == "" { // an executable of this machine
		c.path = name
		return nil
	}
	tree := l.rootfs // without its own root, the program runs where it was unpacked
	if c.box.own {
		tree = c.box.dir
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	candidates := []string{path.Join("/", c.dir, name)}
	if path.IsAbs(name) {
		candidates = []string{name}
	} else if !strings.Contains(name, "/") {
		candidates = nil
		for _, dir := range filepath.SplitList(envVariable(c.env, "PATH")) {
			candidates = append(candidates, path.Join("/", dir, name))
		}
	}
	for _, candidate := range candidates {
		at, err := image.Resolve(root, candidate)
		if err != nil {
			continue
		}
		if info, err := root.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			c.path = candidate
			if !c.box.own {
				c.path, c.dir = filepath.Join(tree, at), ""
			}
			return nil
		}
	}
	return fmt.Errorf("image %s has no executable %q (looked at %s)", l.name, name, strings.Join(candidates, ", "))
}

func envVariable(env []string, name string) string {
	for _, entry := range env {
		if n, v, _ := strings.Cut(entry, "="); n == name {
			return v
		}
	}
	return ""
}
