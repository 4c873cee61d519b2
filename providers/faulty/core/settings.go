package core

import "github.com/plumbline-e2e/plumbline/providers/faulty/lie"

// settingsLies returns the lies about the controller's settings: wrong ones, and ones that stay as they are by default.
func settingsLies() map[string]lie.Lie {
	kept := func(name, value string) lie.Lie { return lie.Lie{Settings: map[string]string{name: value}} }
	return map[string]lie.Lie{
		"closes-batches-at-once": {Settings: map[string]string{
			"BATCH_IDLE_DURATION": "1ms", "BATCH_MAX_DURATION": "1ms",
		}},
		"forgets-batch-idle-duration": kept("BATCH_IDLE_DURATION", "1s"),
		"forgets-batch-max-duration":  kept("BATCH_MAX_DURATION", "2m"),
		"forgets-preference-policy":   kept("PREFERENCE_POLICY", "Respect"),
		"forgets-min-values-policy":   kept("MIN_VALUES_POLICY", "Strict"),
		"forgets-legacy-node-repair":  kept("LEGACY_NODE_REPAIR", "false"),
		"forgets-scheduler-config":    kept("SCHEDULER_CONFIG", ""),
	}
}
