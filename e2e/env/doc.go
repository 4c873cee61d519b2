// Package env is what a spec can do: create, change, await, observe, expect, and do harm.
//
// An [Env] works at a [Place], which is a cluster with a provider, and on a recording of
// all that happens there. Its methods fail the spec themselves; they return only on success.
// Suites see it as e2e.Env. What is around a spec is for package session alone: [New], [Run],
// [ResultOf] and [CleanUp].
package env
