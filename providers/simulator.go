package providers

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// HasCA tells whether the simulator serves TLS by a CA of the cluster's own.
func (s *Simulator) HasCA() bool { return s != nil && (s.TLS || s.Proxy) }

// Proxies tells whether a controller that links a release of Karpenter core reaches its cloud through the
// simulator. The error says that ProxyReleases is malformed.
func (s *Simulator) Proxies(release string) (bool, error) {
	if s == nil || !s.Proxy || s.ProxyReleases == "" {
		return s != nil && s.Proxy, nil
	}
	return Covers(s.ProxyReleases, release)
}

// Rules returns the simulator's RBAC rules: those that every cloud needs, and its Rights.
func (s *Simulator) Rules() ([]rbacv1.PolicyRule, error) {
	rules := []rbacv1.PolicyRule{
		{
			APIGroups: []string{""}, Resources: []string{"nodes", "nodes/status"},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}
	for n, right := range s.Rights {
		var rule rbacv1.PolicyRule
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(right, &rule, true); err != nil {
			return nil, fmt.Errorf("rights[%d] is not an RBAC rule: %w", n, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
