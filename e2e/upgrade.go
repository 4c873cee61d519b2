package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// readUpgrade reads what specs upgrade the provider to.
func (c *Config) readUpgrade() error {
	c.To, c.ToImage, c.ToProvider = os.Getenv("TO"), os.Getenv("TO_IMAGE"), os.Getenv("TO_PROVIDER")
	if c.ToProvider == "" {
		return nil
	}
	if err := providers.Named(c.ToProvider).Validate(); err != nil {
		return fmt.Errorf("TO_PROVIDER=%s: %w", c.ToProvider, err)
	}
	return nil
}

// upgrades reports whether a release is given that specs can upgrade the provider to.
func (c Config) upgrades() bool { return c.To+c.ToImage+c.ToProvider != "" }

// target returns what specs upgrade the provider to, or nil.
func (c Config) target(a *providers.Adapter) *session.Target {
	if !c.upgrades() {
		return nil
	}
	if c.ToProvider != "" {
		a = providers.Named(c.ToProvider)
	}
	return &session.Target{Adapter: c.Gated(a), Release: c.To, Image: c.ToImage}
}

// checkUpgrades returns an error if suites upgrade the provider and nothing says to what, or the reverse.
func (c Config) checkUpgrades(suites []*Suite) error {
	upgrading := slices.ContainsFunc(suites, func(s *Suite) bool { return s.Upgrades })
	switch {
	case upgrading && !c.upgrades():
		return errors.New("these specs upgrade the provider: say in TO to which release, from that in KARPENTER")
	case !upgrading && c.upgrades():
		return fmt.Errorf("TO=%s: none of these specs upgrades the provider; `make upgrade` does",
			cmp.Or(c.To, c.ToImage, c.ToProvider))
	}
	return nil
}

// subject returns the provider's name, and its releases if specs upgrade it.
func (c Config) subject(a *providers.Adapter) string {
	if c.upgradedTo == nil {
		return a.Name
	}
	from := cmp.Or(c.Release, a.Source.Version, c.Image)
	to := strings.TrimSpace(c.upgradedTo.Version + " " + cmp.Or(c.ToImage, c.ToProvider))
	return fmt.Sprintf("%s, upgraded from %s to %s,", a.Name, from, to)
}
