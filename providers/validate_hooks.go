package providers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hooks checks the hooks and the drifts.
func (c *checker) hooks() {
	for _, name := range slices.Sorted(maps.Keys(c.a.Hooks)) {
		at := join("hooks", string(name))
		if !slices.Contains(HookNames(), name) {
			c.add(at, "unknown hook `%s`%s", name, hint(string(name), HookNames()))
		}
		h := c.a.Hooks[name]
		aboutNode := h.PatchNode != nil || h.PatchNodeClaim != nil || h.RemoveNode
		if aboutNode && !slices.Contains(nodeHooks(), name) {
			c.add(at, "is called for no node; `patchNode`, `patchNodeClaim` and `removeNode` are for drifts, %s",
				listOf(nodeHooks()))
		}
		c.hook(at, h)
	}
	for _, reason := range slices.Sorted(maps.Keys(c.a.Drifts)) {
		at := join("drifts", reason)
		if reasons := c.a.Capabilities[NodeClassDrift].Reasons; !slices.Contains(reasons, reason) {
			c.add(at, "`%s` is not among capabilities.nodeClassDrift.reasons%s", reason, hint(reason, reasons))
		}
		c.hook(at, c.a.Drifts[reason])
	}
}

// nodeHooks returns the hooks that are called for a node.
func nodeHooks() []HookName {
	return []HookName{TerminateInstance, ReplaceInstance, Interrupt, Rebalance, Maintain}
}

func (c *checker) hook(at string, h Hook) {
	patches := h.Patch != nil || h.PatchNode != nil || h.PatchNodeClaim != nil
	ways := 0
	for _, there := range []bool{
		h.HTTP != nil, h.Patch != nil, h.PatchNode != nil, h.PatchNodeClaim != nil, h.RemoveNode, len(h.Exec) > 0,
	} {
		if there {
			ways++
		}
	}
	if ways != 1 {
		c.add(at, "has %d of `http`, `patch`, `patchNode`, `patchNodeClaim`, `removeNode` and `exec`; write exactly one",
			ways)
	}
	if h.Subresource != "" && !patches {
		c.add(join(at, "subresource"), "is only for a `patch`, a `patchNode` or a `patchNodeClaim`")
	}
	if patches && h.Subresource != "" && h.Subresource != "status" {
		c.add(join(at, "subresource"), "`%s` can't be patched; write status, or leave it out", h.Subresource)
	}
	if h.Within < 0 || h.Poison < 0 {
		c.add(at, "within and poison cannot be negative")
	}
	c.hookTemplates(at, h)
}

func (c *checker) hookTemplates(at string, h Hook) {
	complain := func(at string, err error) { c.add(at, "%v", err) }
	if h.HTTP != nil {
		method, url, err := h.HTTP.Request()
		if err != nil {
			c.add(join(at, "http"), "%v", err)
		} else if _, err := Expand(url, HookValues{}); err != nil {
			c.add(join(at, "http."+strings.ToLower(method)), "%v", err)
		} else if strings.HasPrefix(url, "/") && c.a.Simulator == nil {
			c.add(join(at, "http"), "`%s` is a path on the simulator, and there is no simulator; write a whole URL", url)
		}
		expandAll(h.HTTP.Body, join(at, "http.body"), HookValues{}, complain)
	}
	expandAll(h.Patch, join(at, "patch"), HookValues{}, complain)
	expandAll(h.PatchNode, join(at, "patchNode"), HookValues{}, complain)
	expandAll(h.PatchNodeClaim, join(at, "patchNodeClaim"), HookValues{}, complain)
	for i, arg := range h.Exec {
		expandAll(arg, fmt.Sprintf("%s.exec[%d]", at, i), HookValues{}, complain)
	}
}

// Request returns the one method that has a value, and that value.
func (h HTTPCall) Request() (method, url string, err error) {
	for _, r := range [][2]string{{"GET", h.Get}, {"POST", h.Post}, {"PUT", h.Put}, {"DELETE", h.Delete}} {
		if r[1] == "" {
			continue
		}
		if url != "" {
			return "", "", fmt.Errorf("`%s` and `%s` exclude each other; keep one", strings.ToLower(method),
				strings.ToLower(r[0]))
		}
		method, url = r[0], r[1]
	}
	if url == "" {
		return "", "", fmt.Errorf("`get`, `post`, `put` or `delete` is missing")
	}
	return method, url, nil
}
