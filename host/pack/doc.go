// Package pack makes one file of a plugin, and reads such files from anywhere.
//
// A package is an OCI image layout in a tar (https://github.com/opencontainers/image-spec, version 1.1), so that tools and
// registries that know nothing of plugins can copy it. Its parts are the plugin's manifest, its module and, where there are
// any, a README, a licence and a bill of materials. The same directory gives the same bytes, whenever and wherever it is packed.
//
// A signature is over one document that lists the digest of every part. It lies beside the plugin in the package, in an
// envelope of its own, as a referrer in a registry does.
//
// [FromDir], [Read] and [Assemble] make a [Package] that is whole: every digest is right, and the module is the one the manifest
// names. They do not say whether this host can run it: [Package.Admit] does. And they do not say who made it:
// [Package.Verify] does.
package pack
