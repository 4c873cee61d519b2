// Package check judges recordings.
package check
