// Command starter becomes the program that a file beside it names: as "x" it reads x.json, a launch.Command. If x is
// a link to y, that may be y.json.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func main() {
	if err := start(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(127) // as shells say that there is no such program
	}
}

// start returns only if there is nothing to start, or if it can't be started.
func start() error {
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return err
	}
	content, err := read(self)
	if err != nil {
		return err
	}
	var command struct {
		Dir        string
		Env, Words []string
	}
	if err := json.Unmarshal(content, &command); err != nil || len(command.Words) == 0 {
		return err
	}
	if command.Env == nil {
		command.Env = os.Environ()
	}
	for i, word := range command.Words {
		if word == "$0" {
			command.Words[i] = self
		}
	}
	if command.Dir != "" {
		if err := os.Chdir(command.Dir); err != nil {
			return err
		}
	}
	return syscall.Exec(command.Words[0], append(command.Words, os.Args[1:]...), command.Env)
}

// read returns the command of a file, or of the file that it links to.
func read(file string) ([]byte, error) {
	content, err := os.ReadFile(file + ".json")
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return content, err
	}
	to, linkErr := os.Readlink(file)
	if linkErr != nil {
		return nil, err
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return read(to)
}
