"""Principal axes and the background model, one encoder a kind of descriptor."""

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from experiments import whole_files
from experiments.errors import UserError
from experiments.lag import describe
from spdjax import gaussians


def sampled(config, pictures, train, seed):
  """{kind: descriptors [M, d]} and centres [M, 2] of the training pictures.

  At most `per_image` of each, drawn by the seed and the picture's number.
  """
  values = {kind: [] for kind in config.kinds}
  centres = []
  plan = describe.plan(pictures, train, config.batch)
  with tqdm(total=len(train), desc="sampling", unit="image") as bar:
    for canvas, indices in plan:
      batch = describe.batch(config, pictures, canvas, indices)
      for place, index in enumerate(indices):
        valid = np.flatnonzero(batch.mask[place])
        rng = np.random.default_rng([seed, int(index)])
        rows = rng.permutation(valid)[: config.per_image]
        for kind in config.kinds:
          values[kind].append(batch.values[kind][place, rows])
        centres.append(batch.centres[place, rows])
      bar.update(len(indices))
  joined = {k: np.concatenate(v).astype(np.float32) for k, v in values.items()}
  return joined, np.concatenate(centres)


def fit(config, values, centres, num_components, seed) -> dict:
  """{kind: `gaussians.Encoder`}."""
  if len(centres) < num_components:
    raise UserError(
      f"--config.components: {num_components} of {len(centres)} sampled "
      "descriptors; expected fewer components, or more pictures or "
      "--config.per_image."
    )
  out = {}
  for number, (kind, own) in enumerate(values.items()):
    key = jax.random.fold_in(jax.random.key(seed), number)
    out[kind], _ = gaussians.fit_encoder(
      key,
      jnp.asarray(own),
      num_components=num_components,
      dim=config.dim,
      centres=jnp.asarray(centres),
      max_steps=config.em_steps,
    )
  return out


def save(path, encoders, **more) -> None:
  """Writes the encoders, and more arrays, to one .npz, whole or not at all."""
  arrays = more | {
    f"{kind}.{name}": np.asarray(value)
    for kind, encoder in encoders.items()
    for name, value in _fields(encoder).items()
  }
  whole_files.write_npz(path, arrays)


def read(arrays, kinds) -> dict:
  """The encoders of the arrays of `save`."""
  return {
    kind: gaussians.Encoder(
      jnp.asarray(arrays[f"{kind}.mean"]),
      jnp.asarray(arrays[f"{kind}.basis"]),
      gaussians.Mixture(
        *(jnp.asarray(arrays[f"{kind}.mixture.{f}"])
          for f in gaussians.Mixture._fields)
      ),
    )
    for kind in kinds
  }  # fmt: skip


def _fields(encoder) -> dict:
  mixture = encoder.mixture._asdict()
  return {
    "mean": encoder.mean,
    "basis": encoder.basis,
    **{f"mixture.{name}": value for name, value in mixture.items()},
  }
