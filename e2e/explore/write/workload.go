package write

import "github.com/plumbline-e2e/plumbline/fixtures"

// pods adds what a template says of pods, or a Pod of itself.
func pods(template field, c *chain) *chain {
	spec := template.at("spec")
	metadata(template.at("metadata"), c, "Annotate", fixtures.WorkloadLabel)
	containers(spec, c)
	each(spec.at("nodeSelector"), c, "Select")
	nodeAffinity(spec.at("affinity", "nodeAffinity"), c)
	podRules(spec.at("affinity", "podAffinity"), c, "Near", "PreferNear")
	podRules(spec.at("affinity", "podAntiAffinity"), c, "Apart", "PreferApart")
	for _, t := range spec.at("tolerations").list() {
		toleration(t, c)
	}
	for _, s := range spec.at("topologySpreadConstraints").list() {
		c.then("Spread", spread(s, template.at("metadata", "labels", fixtures.WorkloadLabel).text()))
	}
	for _, v := range spec.at("volumes").list() {
		name := v.at("persistentVolumeClaim", "claimName").text()
		c.then("Mount", begin("fixtures.Existing", fixtures.Existing, "v1", "PersistentVolumeClaim", name))
	}
	for _, claim := range spec.at("resourceClaims").list() {
		c.then("Claim", device(claim.at("resourceClaimName")))
	}
	for _, f := range []struct{ field, method string }{
		{"priorityClassName", "Priority"}, {"schedulerName", "ScheduledBy"},
	} {
		if name := spec.at(f.field).text(); name != "" {
			c.then(f.method, name)
		}
	}
	if class := spec.at("runtimeClassName").text(); class != "" {
		c.then("RunBy", begin("fixtures.Runtime", fixtures.Runtime, "0").then("Called", class)) // its name is all that counts
	}
	if cpu := spec.at("resources", "requests", "cpu").text(); cpu != "" {
		c.then("PodCPU", cpu)
	}
	for _, gate := range spec.at("schedulingGates").list() {
		c.then("Gated", gate.at("name").text())
	}
	if seconds := spec.at("terminationGracePeriodSeconds").number(); seconds > 0 {
		c.then("GracePeriod", seconds)
	}
	return c
}

func containers(spec field, c *chain) {
	for i, container := range spec.at("containers").list() {
		requests := container.at("resources", "requests")
		if i > 0 {
			c.then("Container", requests.at("cpu").text())
			continue
		}
		switch requests.at("cpu").text() {
		case "100m": // as builders have it
		case "":
			c.then("WithoutRequests")
		default:
			c.then("CPU", requests.at("cpu").text())
		}
		each(requests, c, "Request", "cpu")
		each(container.at("resources", "limits"), c, "Limit")
		for _, port := range container.at("ports").list() {
			hostPort(port, c)
		}
		for _, claim := range container.at("resources", "claims").list() {
			c.then("Use", device(claim.at("name"))) // builders call the claim by the device's name
		}
	}
	for _, container := range spec.at("initContainers").list() {
		cpu, ports := container.at("resources", "requests", "cpu").text(), container.at("ports").list()
		switch {
		case len(ports) > 0:
			c.then("SidecarHostPort", ports[0].at("hostPort").number())
		case container.at("restartPolicy").any != nil:
			c.then("Sidecar", cpu)
		default:
			c.then("InitContainer", cpu)
		}
	}
}

func device(name field) *chain {
	return begin("fixtures.Existing", fixtures.Existing, "resource.k8s.io/v1", "ResourceClaim", name.text())
}

func hostPort(port field, c *chain) {
	number, protocol, address := port.at("hostPort").number(), port.at("protocol").text(), port.at("hostIP").text()
	switch {
	case number == 0:
		c.then("OnHostNetwork", port.at("containerPort").number())
	case protocol == "UDP":
		c.then("HostPortBy", protocol, number)
	case address != "":
		c.then("HostPortAt", address, number)
	default:
		c.then("HostPort", number)
	}
}

func nodeAffinity(affinity field, c *chain) {
	for i, term := range affinity.at("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").list() {
		seen := map[string]bool{}
		for _, r := range term.at("matchExpressions").list() {
			key, method := r.at("key").text(), "Require"
			switch {
			case i > 0:
				method = "OrRequire"
			case seen[key]:
				method = "AndRequire"
			}
			seen[key] = true
			c.then(method, r.at("values").texts(key, r.at("operator").text())...)
		}
	}
	for _, p := range affinity.at("preferredDuringSchedulingIgnoredDuringExecution").list() {
		for _, r := range p.at("preference", "matchExpressions").list() {
			c.then("Prefer", r.at("values").texts(p.at("weight").number(), r.at("key").text(), r.at("operator").text())...)
		}
	}
}

// podRules adds rules about other pods: those that must hold, and those that the scheduler tries to keep.
func podRules(affinity field, c *chain, must, prefer string) {
	for _, rule := range affinity.at("requiredDuringSchedulingIgnoredDuringExecution").list() {
		c.then(must, term(rule))
	}
	for _, rule := range affinity.at("preferredDuringSchedulingIgnoredDuringExecution").list() {
		c.then(prefer, rule.at("weight").number(), term(rule.at("podAffinityTerm")))
	}
}

func term(rule field) *chain {
	t := begin("fixtures.PodTerm", fixtures.PodTerm, rule.at("topologyKey").text())
	selector(rule, t)
	if all := rule.at("namespaceSelector"); all.any != nil && len(all.keys()) == 0 {
		t.then("InAllNamespaces")
	}
	return t
}

// selector adds what says which pods a rule counts.
func selector(rule field, c *chain) {
	each(rule.at("labelSelector", "matchLabels"), c, "Of")
	for _, r := range rule.at("labelSelector", "matchExpressions").list() {
		c.then("Where", r.at("values").texts(r.at("key").text(), r.at("operator").text())...)
	}
	for _, key := range rule.at("matchLabelKeys").list() {
		c.then("ByLabel", key.text())
	}
}

func toleration(t field, c *chain) {
	key, effect, value := t.at("key").text(), t.at("effect").text(), t.at("value").text()
	switch {
	case key == "":
		c.then("TolerateAll", effect)
	case value != "":
		c.then("TolerateValue", key, value)
	case effect != "":
		c.then("TolerateEffect", key, effect)
	default:
		c.then("Tolerate", key)
	}
}

// spread returns a topology spread constraint of the workload of that name, whose pods it counts unless it says
// otherwise.
func spread(s field, workload string) *chain {
	c := begin("fixtures.TopologySpread", fixtures.TopologySpread, s.at("topologyKey").text())
	labels := s.at("labelSelector", "matchLabels")
	if s.at("labelSelector").any == nil {
		c.then("OfNone")
	}
	if len(s.at("labelSelector").keys()) > 1 || len(labels.keys()) > 1 ||
		labels.at(fixtures.WorkloadLabel).text() != workload {
		selector(s, c)
	}
	for _, n := range []struct{ field, method string }{{"maxSkew", "MaxSkew"}, {"minDomains", "MinDomains"}} {
		if v := s.at(n.field).number(); v > 1 {
			c.then(n.method, v)
		}
	}
	if s.at("whenUnsatisfiable").text() == "ScheduleAnyway" {
		c.then("ScheduleAnyway")
	}
	for _, p := range []struct{ field, method string }{
		{"nodeAffinityPolicy", "NodeAffinityPolicy"}, {"nodeTaintsPolicy", "NodeTaintsPolicy"},
	} {
		if policy := s.at(p.field).text(); policy != "" {
			c.then(p.method, policy)
		}
	}
	return c
}
