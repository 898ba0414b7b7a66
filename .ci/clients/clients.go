// Package clients names the Go programs of the API family that the tests run against the service.
package clients

import _ "github.com/axiomhq/axiom-go/axiom"
