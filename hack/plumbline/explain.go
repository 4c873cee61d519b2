package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/plumbline-e2e/plumbline/e2e/explain"
	"github.com/plumbline-e2e/plumbline/e2e/history"
)

const explainHelp = `name a recording, and one of NODE, NODECLAIM and POD:

    NODE=name plumbline explain HISTORY.jsonl.gz

A run leaves one recording per spec in _artifacts/*/histories. A name that the recording
doesn't have is answered by those that it has`

// explainObject tells the life of a node or a pod of a recording.
func explainObject(_ context.Context, args []string) error {
	var tell func(*history.History, string) ([]explain.Sentence, error)
	name := ""
	for variable, of := range map[string]func(*history.History, string) ([]explain.Sentence, error){
		"NODE": explain.Node, "NODECLAIM": explain.NodeClaim, "POD": explain.Pod,
	} {
		value, set := os.LookupEnv(variable)
		if !set || value == "" {
			continue
		}
		if name != "" {
			return errors.New("NODE, NODECLAIM, POD: name one of them, not several")
		}
		tell, name = of, value
	}
	if len(args) != 1 || name == "" {
		return errors.New(explainHelp)
	}
	h, err := history.LoadFile(args[0])
	if err != nil {
		return err
	}
	sentences, err := tell(h, name)
	if err != nil {
		return err
	}
	for _, s := range sentences {
		fmt.Println(s)
	}
	return nil
}
