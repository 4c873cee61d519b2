package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers/faulty/cloud"
	"github.com/plumbline-e2e/plumbline/providers/faulty/core"
	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
	"github.com/plumbline-e2e/plumbline/providers/faulty/saboteur"
	"github.com/plumbline-e2e/plumbline/providers/faulty/schema"
)

// lies returns every lie by its name.
func lies() map[string]lie.Lie {
	all := map[string]lie.Lie{}
	for _, level := range levels() {
		maps.Copy(all, level)
	}
	return all
}

// levels returns the lies by level. A level is a package, but for upgrade, which is of several; its
// metadata is lies/<level>.yaml.
func levels() map[string]map[string]lie.Lie {
	return map[string]map[string]lie.Lie{
		"cloud":    cloud.Lies(),
		"core":     core.Lies(),
		"saboteur": saboteur.Lies(),
		"schema":   schema.Lies(),
		"upgrade":  upgradeLies(),
	}
}

// upgradeLies returns the lies that only a release tells that takes over from another one.
func upgradeLies() map[string]lie.Lie {
	all := core.UpgradeLies()
	maps.Copy(all, saboteur.UpgradeLies())
	maps.Copy(all, schema.UpgradeLies())
	return all
}

// names returns the sorted names of all lies.
func names() []string {
	return slices.Sorted(maps.Keys(lies()))
}

// find returns the lie of that name. An empty name means the honest provider.
func find(name string) (lie.Lie, error) {
	if name == "" {
		return lie.Lie{}, nil
	}
	l, ok := lies()[name]
	if !ok {
		return lie.Lie{}, fmt.Errorf("no lie is called %q; LIE is empty, for an honest provider, or one of:\n%s",
			name, strings.Join(names(), "\n"))
	}
	return l, nil
}
