// Package env is what a spec can do: create, change, await, observe, expect, and cause
// failures.
//
// An [Env] uses a [Place], which is a cluster with a provider, and a recording of what happens
// there. Suites see it as e2e.Env. Only package session calls [New], [Run], [ResultOf] and
// [CleanUp].
package env
