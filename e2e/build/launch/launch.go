// Package launch makes files that start a program in a folder and an environment of their own. Unlike shell scripts
// they need no shell, which small container images don't have, and no quoting.
package launch

import (
	"context"
	"embed"
	"encoding/json"
	"os"

	"github.com/plumbline-e2e/plumbline/e2e/build"
)

// source is the starter's source. It is embedded so that importers build the matching one.
//
//go:embed starter
var source embed.FS

// Self stands for the path of the file itself, among the words of a Command.
const Self = "$0"

// Command is what a file does. The zero value ends well at once.
type Command struct {
	Dir   string   `json:"dir,omitempty"`   // working directory; empty: the caller's
	Env   []string `json:"env,omitempty"`   // the whole environment ("NAME=value"); nil: the caller's
	Words []string `json:"words,omitempty"` // the program's path and its first arguments; the caller's follow
}

// Starter returns the path of the program behind all files, and builds it unless it is in the cache.
func Starter(ctx context.Context, c *build.Cache) (string, error) {
	return c.Source(ctx, "github.com/plumbline-e2e/plumbline/e2e/build/launch", source, "./starter")
}

// Write makes the file at path: a link to the starter, with the command beside it in path.json.
func (c Command) Write(path, starter string) error {
	content, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", content, 0o600); err != nil {
		return err
	}
	return os.Symlink(starter, path)
}
