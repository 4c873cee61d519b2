package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// hooks returns AWS's own hooks by pattern.
func hooks(c *cloud.Cloud) map[string]simulator.Hook {
	about := func(do func(id string) error) simulator.Hook {
		return simulator.About(func(_ *http.Request, id string) (any, error) { return nil, do(id) })
	}
	return map[string]simulator.Hook{
		"POST /_sim/interrupt":   about(c.Interrupt),
		"POST /_sim/rebalance":   about(c.Rebalance),
		"POST /_sim/maintenance": about(c.Maintain),
		"POST /_sim/replace": about(func(id string) error {
			if _, err := c.Fleet().Leak(); err != nil {
				return err
			}
			return c.Fleet().End(id)
		}),
		"POST /_sim/announcements": func(r *http.Request) (any, error) {
			count, err := number(r, "count", 1)
			if err != nil {
				return nil, err
			}
			return c.AnnounceMany(count)
		},
		"GET /_sim/announcements":   func(*http.Request) (any, error) { return c.Announcements(), nil },
		"POST /_sim/images":         func(*http.Request) (any, error) { c.Release(); return nil, nil },
		"PUT /_sim/subnets":         func(r *http.Request) (any, error) { return setSubnets(c, r), nil },
		"PUT /_sim/security-groups": func(r *http.Request) (any, error) { return nil, setGroups(c, r) },
		"PUT /_sim/instance-profiles": func(r *http.Request) (any, error) {
			c.SetRoles(r.FormValue("role"))
			return nil, nil
		},
	}
}

// zoneLetters holds the letters of the region's zones.
const zoneLetters = "abc"

// setSubnets sets subnets in some zones, such as ?zones=ab, or in all zones but one, such as
// ?without=us-east-1c. It returns the letters of the zones.
func setSubnets(c *cloud.Cloud, r *http.Request) string {
	letters := r.FormValue("zones")
	if zone := r.FormValue("without"); zone != "" {
		letters = strings.ReplaceAll(zoneLetters, zone[len(zone)-1:], "")
	}
	c.SetSubnets(letters)
	return letters
}

func setGroups(c *cloud.Cloud, r *http.Request) error {
	count, err := number(r, "count", 0)
	if err == nil {
		c.SetGroups(count)
	}
	return err
}

// number returns a parameter that is an integer.
func number(r *http.Request, parameter string, least int) (int, error) {
	n, err := strconv.Atoi(r.FormValue(parameter))
	if err != nil || n < least {
		return 0, fmt.Errorf("?%s=%s: it must be an integer of at least %d", parameter, r.FormValue(parameter), least)
	}
	return n, nil
}
