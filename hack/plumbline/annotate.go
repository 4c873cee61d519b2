package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// annotate prints GitHub's workflow commands that show the red specs of the latest run where they are declared. GitHub
// shows the first ten of a step.
func annotate(_ context.Context, _ []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	run, err := e2e.ReadRun(filepath.Join(c.Artifacts, "latest"), step)
	if err != nil {
		return fmt.Errorf("there is no run to annotate: %w", err)
	}
	for _, o := range run.Red() {
		fmt.Println(annotation(o, os.Getenv("GITHUB_WORKSPACE")))
	}
	return nil
}

// annotation returns the workflow command that shows an outcome at its spec. A spec that isn't in the workspace's
// repository is shown without a place.
func annotation(o report.Outcome, workspace string) string {
	var place string
	if file, line, ok := cutLast(o.Source, ":"); ok {
		// A hidden folder is the checkout of Plumbline in another repository's workspace.
		rel, err := filepath.Rel(workspace, file)
		if err == nil && filepath.IsAbs(file) && !strings.HasPrefix(rel, ".") {
			place = fmt.Sprintf("file=%s,line=%s,", property(filepath.ToSlash(rel)), property(line))
		}
	}
	text := o.Reason
	if o.Rerun != "" {
		text += "\nTo run it alone: " + o.Rerun
	}
	return fmt.Sprintf("::error %stitle=%s::%s", place, property(fmt.Sprintf("%s [%s] %s", o.Sentence(), o.ID, o.Verdict)),
		data(text))
}

// cutLast cuts s at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// data escapes the message of a workflow command, as the runner's ActionCommand unescapes it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes the value of a workflow command's property.
func property(s string) string { return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s)) }
