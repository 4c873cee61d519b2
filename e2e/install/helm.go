package install

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// helm is the pinned Helm. It is a separate program, so that importers don't link its SDK. It
// uses none of the user's settings, and folders of its own.
type helm struct {
	program string
	home    string
}

func newHelm(ctx context.Context, cache *build.Cache) (*helm, error) {
	dir, err := cache.Pinned(ctx, "helm")
	if err != nil {
		return nil, err
	}
	return &helm{program: filepath.Join(dir, "helm"), home: filepath.Join(cache.Dir, "helm-home")}, nil
}

// template renders a chart, which is a folder or an archive.
func (h *helm) template(ctx context.Context, release, chart, namespace string, on platform,
	values []byte,
) ([]byte, error) {
	args := []string{"template", release, chart, "--namespace", namespace, "--values", "-", "--skip-tests"}
	if on.kubernetes != "" {
		args = append(args, "--kube-version", on.kubernetes)
	}
	if len(on.apis) > 0 {
		args = append(args, "--api-versions", strings.Join(on.apis, ","))
	}
	return h.run(ctx, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home}, values, args...)
}

// crds returns what lies in the chart's folder crds.
func (h *helm) crds(ctx context.Context, chart string) ([]byte, error) {
	return h.run(ctx, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home}, nil, "show", "crds", chart)
}

// pull downloads a remote chart's archive into a folder. Proxies, certificates and Docker's
// credentials are the user's.
func (h *helm) pull(ctx context.Context, chart, version, folder string) error {
	args := []string{"pull", chart, "--destination", folder}
	if u, err := url.Parse(chart); err == nil && u.Scheme == "oci" {
		if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			args = append(args, "--plain-http") // as Docker does
		}
	} else if !strings.HasSuffix(chart, ".tgz") {
		repository, name := path.Split(chart)
		args[1] = name
		args = append(args, "--repo", repository)
	}
	if version != "" {
		args = append(args, "--version", version)
	}
	_, err := h.run(ctx, os.Environ(), nil, args...)
	return err
}

func (h *helm) run(ctx context.Context, env []string, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Env = append(env, "KUBECONFIG="+filepath.Join(h.home, "none"), "HELM_CACHE_HOME="+h.home,
		"HELM_CONFIG_HOME="+h.home, "HELM_DATA_HOME="+h.home)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// Helm's advice is for users of its own command line.
		said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n\nUse --debug")
		if said != "" {
			err = fmt.Errorf("helm says: %s", strings.TrimPrefix(said, "Error: "))
		}
		return nil, err
	}
	return stdout.Bytes(), nil
}

// These match what registries and repositories answer. Helm gives its errors as text only.
var (
	refusedPull = regexp.MustCompile(`(?i)\b40[13]\b|unauthorized|forbidden|denied|credential`)
	absentPull  = regexp.MustCompile(`(?i)\b404\b|not found|no chart (version|name) found|name unknown|manifest unknown`)
	offlinePull = regexp.MustCompile(`(?i)dial tcp|no such host|connection re|timeout|unreachable|TLS handshake|` +
		`\b50[0234]\b|x509|deadline exceeded|EOF`)
)

// explainPull adds what the user can do to Helm's error about a remote chart.
func explainPull(chart, version string, err error) error {
	const byHand = "or download the chart by other means, and write the path of its archive"
	what := strings.TrimSpace("the chart " + chart + " " + version)
	host := ""
	if u, parseErr := url.Parse(chart); parseErr == nil {
		host = u.Host
	}
	switch said := err.Error(); {
	case refusedPull.MatchString(said):
		return fmt.Errorf("%s: %s refuses to give it, or has no such chart; `docker login %s` saves credentials that are "+
			"used, %s: %w", what, host, host, byHand, err)
	case absentPull.MatchString(said):
		return fmt.Errorf("%s: %s has no such chart, or not in this version; look for the version's name there, some begin "+
			"with v: %w", what, host, err)
	case offlinePull.MatchString(said):
		return fmt.Errorf("%s: %s can't be reached; it is needed the first time only: try again, %s: %w", what, host, byHand,
			err)
	}
	return fmt.Errorf("%s can't be pulled: %w", what, err)
}
