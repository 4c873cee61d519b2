// Package settings holds the promises of the controller's own settings, which operators change
// for all pools at once: how long a batch of pods stays open, and how much preferences and
// minValues count. Each spec restarts the controller with other settings.
//
// Source: https://karpenter.sh/docs/reference/settings.
package settings

import "github.com/plumbline-e2e/plumbline/e2e"

// Suite is "settings ...".
var Suite = e2e.NewSuite("settings")
