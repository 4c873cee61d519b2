package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// find returns the lie that tells those of a list of names, separated by commas. An empty list means the honest
// provider. The error has all names that no lie has.
func find(list string) (lie.Lie, error) {
	if list == "" {
		return lie.Lie{}, nil
	}
	var told []lie.Lie
	var unknown []string
	all := lies()
	for name := range strings.SplitSeq(list, ",") {
		l, ok := all[name]
		if !ok {
			unknown = append(unknown, strconv.Quote(name))
		}
		told = append(told, l)
	}
	if len(unknown) > 0 {
		return lie.Lie{}, fmt.Errorf("no lie is called %s; LIE is empty, for an honest provider, or some of these, "+
			"separated by commas:\n%s", strings.Join(unknown, " or "), strings.Join(names(), "\n"))
	}
	return lie.All(told...), nil
}
