"""What names of vision models say; the kinds follow from how the models are built, not from their speeds."""

import pytest

from planner.performance.vision_names import family, is_patches, is_plain, named_spec

PLAIN = """
ResNet50-v1.5 resnet-18 resnet50d resnet26t gluon_resnet18_v1b wide_resnet50_2 tv_resnet34 ssl_resnext101_32x8d VGG16
vgg11_bn repvgg_a2 mobilenetv2_100 mnasnet_100 regnetx_032 darknet53 xception71 LeNet-5
"""
# attention to channels, other nonlinearities, joined features, other norms
OTHERS = """
seresnet50 eca_resnet33ts resnet33ts resnetrs50 resnest50d senet154 semnasnet_100 rexnet_100 mobilenetv3_large_100
efficientnet_b0 cspresnet50 cs3darknet_l densenet169 res2net101_26w_4s resnet50_gn nf_resnet50 resnetv2_50x1_bit
regnety_032 inception_v3 unknown
"""


@pytest.mark.parametrize("name", PLAIN.split())
def test_networks_of_convolutions_batch_norm_and_relu_alone(name):
    assert is_plain(name) and not is_patches(name)


@pytest.mark.parametrize("name", [*OTHERS.split(), ""])
def test_networks_with_more_than_that(name):
    assert not is_plain(name)


@pytest.mark.parametrize("name", ["vit_base_patch16_224", "Swin_tiny", "swinv2_tiny", "convnext_tiny", "mixer_b16_224"])
def test_layer_norms_and_mlps_on_patches(name):
    spec = named_spec(name, 4.5, 13.4, "3x224x224")
    assert spec.patches and not spec.plain and (spec.gmacs, spec.activations_m, spec.input) == (4.5, 13.4, "3x224x224")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("resnet18", "resnet50d", "ResNet50-v1.5", "cspresnet50w", "eca_resnet33ts", "nf_resnet50"), "resnet"),
        (("tf_efficientnet_b7", "efficientnet_b0", "tf_efficientnetv2_m"), "efficientnet"),
        (("vit_tiny_patch16_224", "deit3_base_patch16_224", "beit_large_patch16_224"), "vit"),
        (("regnety_160", "nf_regnet_b1", "regnetx_032"), "regnet"),
        (("cs3darknet_l", "cspdarknet53", "darknet53"), "darknet"),
        (("vovnet39a", "ese_vovnet39b"), "vovnet"),
        (("dm_nfnet_f0", "nfnet_f0"), "nfnet"),
        (("res2net101_26w_4s",), "res2net"),
        (("resnext50_32x4d",), "resnext"),
    ],
)
def test_families_differ_by_more_than_size_and_recipe(names, expected):
    assert {family(name) for name in names} == {expected}
