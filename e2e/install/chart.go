package install

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/providers"
)

// findChart finds Helm and the controller's chart, if the adapter has one.
func (p *Prepared) findChart(ctx context.Context, cache *build.Cache, _ Selection) (err error) {
	chart := p.adapter.Controller.Chart
	if chart == nil {
		return nil
	}
	if p.chart, err = p.locateChart(ctx, cache, chart.Path, chart.Version); err != nil {
		return fmt.Errorf("controller.chart: %w", err)
	}
	return nil
}

// locateChart returns the folder or the archive of a chart. It pulls a remote one into the
// cache, unless it is there.
func (p *Prepared) locateChart(ctx context.Context, cache *build.Cache, chart, version string) (string, error) {
	if !providers.IsRemote(chart) {
		at := p.adapter.Files(p.source).Folder(chart)
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("there is no %s%s", chart, p.chartsInSource())
		}
		return at, p.needHelm(ctx, cache)
	}
	version, err := providers.Expand(version, p.values)
	if err != nil {
		return "", fmt.Errorf("version: %w", err)
	}
	if err := p.needHelm(ctx, cache); err != nil {
		return "", err
	}
	return p.helm.Archive(ctx, cache, chart, version)
}

func (p *Prepared) needHelm(ctx context.Context, cache *build.Cache) (err error) {
	if p.helm == nil {
		p.helm, err = OpenHelm(ctx, cache)
	}
	return err
}

// Archive returns the path of a remote chart's archive. It pulls the chart into the cache, unless
// it is there.
func (h *Helm) Archive(ctx context.Context, cache *build.Cache, chart, version string) (string, error) {
	return cache.Keep("chart "+chart+" "+version, func() (string, error) { return h.kept(ctx, cache, chart, version) })
}

func (h *Helm) kept(ctx context.Context, cache *build.Cache, chart, version string) (string, error) {
	sum := sha256.Sum256([]byte(chart + "\x00" + version))
	folder := filepath.Join(cache.Dir, "charts")
	archive := filepath.Join(folder, fmt.Sprintf("%s-%x.tgz", strings.TrimSuffix(path.Base(chart), ".tgz"), sum[:6]))
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	if err := h.archive(ctx, cache, chart, version, archive); err != nil {
		return "", cache.Explain(ctx, "chart "+chart, "10 MB", err)
	}
	return archive, nil
}

// archive pulls a remote chart. Other processes see the archive complete or not at all.
func (h *Helm) archive(ctx context.Context, cache *build.Cache, chart, version, archive string) (err error) {
	if err := os.MkdirAll(filepath.Dir(archive), 0o700); err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(archive), "unfinished-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unfinished)) }()
	if cache.Progress != nil {
		cache.Progress(strings.TrimSpace("pulling the chart " + chart + " " + version))
	}
	if err := h.pull(ctx, chart, version, unfinished); err != nil {
		return explainPull(chart, version, err)
	}
	pulled, err := filepath.Glob(filepath.Join(unfinished, "*.tgz"))
	if err != nil || len(pulled) != 1 {
		return fmt.Errorf("helm pulled %d archives of the chart %s instead of one", len(pulled), chart)
	}
	return os.Rename(pulled[0], archive)
}

// chartsInSource lists the charts of the source module, for an error.
func (p *Prepared) chartsInSource() string {
	if p.source == "" {
		return ""
	}
	var found []string
	_ = filepath.WalkDir(p.source, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "Chart.yaml" {
			if inside, err := filepath.Rel(p.source, filepath.Dir(file)); err == nil {
				found = append(found, providers.SourcePrefix+"/"+filepath.ToSlash(inside))
			}
		}
		return nil // what can't be read is not listed
	})
	module := p.adapter.Source.Module + "@" + p.values.Version
	if found == nil {
		return "; " + module + " holds no chart: write an oci:// reference, or the path of a folder or archive"
	}
	return "; the charts in " + module + " are " + strings.Join(found, ", ")
}
