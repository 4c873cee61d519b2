package conversion

// template returns the metadata of a pool's template.
func template() map[string]string {
	return map[string]string{
		"spec.template.metadata": "{labels: {example.com/team: blue}, annotations: {example.com/note: say so}}",
	}
}

// disruption returns what a pool says of disruption.
func disruption(text string) map[string]string { return map[string]string{"spec.disruption": text} }

// taints returns taints with all of their fields, under a path.
func taints(under string) map[string]string {
	return map[string]string{
		under + "taints": `[{key: example.com/a, value: b, effect: NoSchedule, timeAdded: "2024-02-02T19:54:34Z"}, ` +
			`{key: example.com/c, effect: NoExecute}]`,
		under + "startupTaints": `[{key: example.com/d, value: e, effect: NoSchedule, timeAdded: "2024-02-02T19:54:34Z"}]`,
	}
}

// requirements returns requirements with all operators that need no certain nodes, under a path.
func requirements(under string) map[string]string {
	return map[string]string{
		under + "requirements": "[{key: example.com/a, operator: Exists}, {key: example.com/b, operator: DoesNotExist}, " +
			"{key: example.com/c, operator: NotIn, values: [x, z]}, " +
			"{key: example.com/d, operator: In, values: [x, z], minValues: 2}, " +
			`{key: example.com/e, operator: Gt, values: ["2"]}, {key: example.com/f, operator: Lt, values: ["9"]}]`,
	}
}

// limits returns a pool's limits and weight.
func limits() map[string]string {
	return map[string]string{"spec.limits": "{cpu: 1500m, memory: 2Ti, example.com/gpu: 4}", "spec.weight": "7"}
}

// budgets returns a pool's budgets, without reasons, which v1beta1 has none of.
func budgets() map[string]string {
	return map[string]string{
		"spec.disruption": `{consolidationPolicy: WhenEmpty, consolidateAfter: 5m, budgets: [{nodes: "3"}, ` +
			`{nodes: 20%, schedule: "0 9 * * mon-fri", duration: 8h}, {nodes: "0", schedule: "@daily", duration: 10m}]}`,
	}
}

// kubelet returns all settings of the kubelet, under a path. In v1 they are in an annotation.
func kubelet(name, under string) fields {
	return fields{
		name: name,
		written: map[string]string{
			under + "kubelet": `{clusterDNS: [10.0.1.100], maxPods: 20, podsPerCore: 0, systemReserved: {cpu: 100m}, ` +
				`kubeReserved: {memory: 200Mi}, evictionHard: {memory.available: 5%}, evictionSoft: {nodefs.available: 10%}, ` +
				`evictionSoftGracePeriod: {nodefs.available: 2m}, evictionMaxPodGracePeriod: 60, ` +
				`imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80, cpuCFSQuota: false}`,
		},
		read: map[string]string{
			under + "kubelet": "null",
			"metadata.annotations": `{compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"clusterDNS":["10.0.1.100"],` +
				`"maxPods":20,"podsPerCore":0,"systemReserved":{"cpu":"100m"},"kubeReserved":{"memory":"200Mi"},` +
				`"evictionHard":{"memory.available":"5%"},"evictionSoft":{"nodefs.available":"10%"},` +
				`"evictionSoftGracePeriod":{"nodefs.available":"2m0s"},"evictionMaxPodGracePeriod":60,` +
				`"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,"cpuCFSQuota":false}'}`,
		},
	}
}
